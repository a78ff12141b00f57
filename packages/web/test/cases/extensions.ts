import { text } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { getField, say, type Shared } from "../kit.ts";

export function extensionCases(shared: Shared): void {
  test("what extensions ask is answered, and what they show is text", async () => {
    const { page, answers } = await shared.begin();
    answers.length = 0;
    const ask = (...call: unknown[]) => say(page, `/ask ${JSON.stringify(call)}`);
    const dialog = page.getByRole("alertdialog", { name: "An extension asks" });
    await ask("select", "Which \u202e?", ["<b>one</b>", "two"]);
    await dialog.getByRole("heading", { name: "Which U+202E?" }).waitFor();
    await dialog.getByRole("button", { name: "<b>one</b>" }).click();
    await dialog.waitFor({ state: "detached" });
    await ask("confirm", "Sure?", "Really\nsure?");
    await dialog.getByRole("button", { name: "Yes" }).click();
    await expect.poll(() => answers).toEqual(["<b>one</b>", true]);
    await ask("input", "Name", "Ann");
    await dialog.getByLabel("Name").fill("Bob");
    await dialog.getByRole("button", { name: "OK" }).isEnabled();
    await dialog.getByRole("button", { name: "OK" }).click();
    await expect.poll(() => answers.length).toBe(3);
    await ask("editor", "Text", "a\nb");
    await expect.poll(() => dialog.getByLabel("Text").inputValue()).toBe("a\nb");
    await dialog.getByLabel("Text").fill("c\nd");
    await dialog.getByRole("button", { name: "OK" }).click();
    await expect.poll(() => answers.slice(2)).toEqual(["Bob", "c\nd"]);
    await ask("select", "Once more?", ["no"]);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => answers.length).toBe(5);
    expect(answers[4]).toBeUndefined();
    await ask("setStatus", "a", "Indexing <i>7</i>");
    // What was typed is shown too if it takes a while.
    await page.getByLabel("States of extensions").getByText("Indexing <i>7</i>").waitFor();
    await ask("setWidget", "w", ["\u001b[31mred\u001b[0m line", "<script>1</script>"]);
    await page
      .getByRole("region", { name: "Shown by an extension" })
      .getByText("red line\n<script>1</script>")
      .waitFor();
    await ask("notify", "Look \u202eout", "warning");
    await page.locator(".notice").getByText("Look U+202Eout").waitFor();
    await ask("notify", "Change a\n--- a\n+++ a\n@@ -1 +1 @@\n-old\n+new <b>\n");
    const note = page.locator(".notice").filter({ hasText: "Change a" });
    await expect.poll(() => note.locator(".removed").innerText()).toContain("- old");
    await expect.poll(() => note.locator(".added").innerText()).toContain("+ new <b>");
    await note.getByRole("button", { name: "I have read this" }).click();
    await ask("setTitle", "Extended");
    await expect.poll(() => page.title()).toContain("Extended");
    await ask("setEditorText", "Written by it");
    await expect.poll(() => getField(page).inputValue()).toBe("Written by it");
    await getField(page).fill("");
  });

  test("an answer of a background task is folded to a line each, unfolds, and stays so after a reload", async () => {
    const { page } = await shared.begin([text("Hello.")]);
    await say(page, "Hi");
    await page.getByRole("article", { name: "Answer" }).getByText("Hello.").waitFor();
    const lines = ["Task 1 (look <b>here</b>) done", "Task 2 (count \u202e) failed"];
    const content = "Task 1: done\nThe whole first answer.\n\nTask 2: failed\nNo disk.";
    await say(
      page,
      `/announce ${JSON.stringify({ customType: "agents", content, display: true, details: { foldedTo: lines } })}`,
    );
    const message = page.getByRole("article", { name: "Message of agents" });
    const isFolded = async () => {
      for (const line of ["Task 1 (look <b>here</b>) done", "Task 2 (count U+202E) failed"])
        await message.getByText(line).waitFor();
      expect(await message.getByText("The whole first answer.").isVisible()).toBe(false);
    };
    await isFolded();
    await message.getByText("Task 1 (look").click();
    await message.getByText("The whole first answer.").waitFor();
    await message.getByText("No disk.").waitFor();
    await page.reload();
    await isFolded();
  });
}
