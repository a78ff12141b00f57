import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text, thinking } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { say, type Shared, waitForFrames, waitForText } from "../kit.ts";

export function transcriptCases(shared: Shared): void {
  test("an answer is drawn while it arrives, with its thoughts folded, its calls and a diff", async () => {
    const words = Array.from({ length: 30 }, (_, index) => `word${index}`).join(" ");
    const { page, workspace, pace } = await shared.begin(
      [thinking("I think first."), call("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] })],
      () => {
        pace.deltasLeft = 20;
        return [text(`# Done\n\n${words}\n\n[here](https://example.com/) and [not here](javascript:alert(1))`)];
      },
    );
    onTestFinished(() => pace.goOn());
    await writeFile(join(workspace, "a.txt"), "one\n");
    await say(page, "Please edit **a.txt**.");
    await page.locator(".user strong", { hasText: "a.txt" }).waitFor();
    await page.locator(".diff .added", { hasText: "1 + two" }).waitFor();
    await waitForText(page, "word3 ");
    expect(await page.getByText("word29").count()).toBe(0);
    await expect.poll(() => page.title()).toMatch(/^● /);
    pace.goOn();
    await waitForText(page, "word29");
    await page.getByRole("heading", { name: "Done" }).waitFor();
    expect(await page.getByText("I think first.").count()).toBe(0);
    await page.getByRole("button", { name: "Thinking", exact: true }).click();
    await waitForText(page, "I think first.");
    const links = await page.locator(".answer a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    expect(links).toEqual(["https://example.com/"]);
    await expect.poll(() => page.getByTestId("announcer").textContent()).toContain("word29");
  });

  test("a written file is shown with its first lines, and a replaced one with what changed", async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `name${index + 1}`);
    const write = (id: string, content: readonly string[]) =>
      call("write", { path: "names.txt", content: content.join("\n") }, id);
    const { page } = await shared.begin(
      [write("a", lines)],
      [write("b", lines.with(14, "other"))],
      [text("Both written.")],
    );
    await say(page, "Write it.");
    await waitForText(page, "Both written.");
    await page.locator(".diff .line", { hasText: "10 name10" }).waitFor();
    expect(await page.getByText("name11").count()).toBe(0);
    await page.locator(".diff .removed", { hasText: "15 - name15" }).waitFor();
    await page.locator(".diff .added", { hasText: "15 + other" }).waitFor();
    await page.getByRole("button", { name: "Show all 30 lines" }).click();
    await page.locator(".diff .line", { hasText: "30 name30" }).waitFor();
  });

  test("calls that a tool makes are below it, the last ones at first, and all when it is unfolded or the page is loaded again", async () => {
    const { page, workspace } = await shared.begin([call("outer", {}, "o")], [text("Ready now.")]);
    await say(page, "Call all.");
    const rows = page.getByRole("list", { name: "Calls of this tool" }).locator(".nested-call");
    const getRows = async () => (await rows.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, " "));
    const bash = "bash until [ -e go ]; do sleep 0.02; done";
    const others = ["ls . done", "ls . done", "ls . done", "read /etc/shadow denied"];
    await expect.poll(getRows).toEqual([...others, `${bash} running`]);
    expect(await page.locator(".call.running").count()).toBe(1);
    await writeFile(join(workspace, "go"), "");
    onTestFinished(() => rm(join(workspace, "go")));
    await waitForText(page, "Ready now.");
    expect(await getRows()).toEqual([...others, `${bash} done`]);
    await page.reload();
    await expect.poll(getRows).toEqual([...others, `${bash} done`]);
    await page.getByRole("button", { name: "… and 3 more calls" }).click();
    await expect.poll(getRows).toEqual(["ls . done", "ls . done", "ls . done", ...others, `${bash} done`]);
    await page.getByRole("button", { name: /^outer/ }).click();
    await expect.poll(getRows).toEqual([...others, `${bash} done`]);
  });

  test("a reader who goes back a little stays there, with what is selected and unfolded, also at the end of the answer", async () => {
    const paragraphs = Array.from({ length: 90 }, (_, index) => `Paragraph ${index} has some words.`);
    const { page, pace } = await shared.begin(() => {
      pace.deltasLeft = 300;
      return [thinking("Some thoughts."), text(paragraphs.join("\n\n"))];
    });
    onTestFinished(() => pace.goOn());
    await say(page, "Tell me.");
    await waitForText(page, /^Paragraph 40 /);
    const log = page.getByRole("log", { name: "Transcript" });
    await log.hover();
    await page.mouse.wheel(0, -8);
    await page.getByRole("button", { name: "Go to the end" }).waitFor();
    await page.getByRole("button", { name: /^Thinking/ }).click();
    // What is unfolded above the screen moves the transcript until it is measured.
    await waitForFrames(page);
    await log.evaluate((element) => {
      const paragraph = [...element.querySelectorAll("p")].find((each) =>
        each.textContent?.startsWith("Paragraph 30 "),
      );
      getSelection()!.selectAllChildren(paragraph!);
    });
    const getPlace = () =>
      log.evaluate(() => [
        String(getSelection()),
        Math.round(getSelection()!.getRangeAt(0).getBoundingClientRect().top),
      ]);
    const place = await getPlace();
    expect(place[0]).toBe("Paragraph 30 has some words.");
    pace.goOn();
    await page.getByText("Ready").waitFor();
    await expect.poll(() => page.getByTestId("announcer").textContent()).toContain("Paragraph 1 ");
    await waitForFrames(page);
    expect(await getPlace()).toEqual(place);
    expect(await page.getByRole("button", { name: "Thinking", exact: true }).getAttribute("aria-expanded")).toBe(
      "true",
    );
    await page.getByRole("button", { name: "Go to the end" }).click();
    await page.getByText("Paragraph 89 ").waitFor();
  });

  test("a conversation is summarised on demand", async () => {
    const { page, model } = await shared.begin([text("word ".repeat(400))], [text("Enough.")]);
    for (const [message, answer] of [
      ["Begin.", "word word"],
      ["Go on.", "Enough."],
    ]) {
      await say(page, message!);
      await waitForText(page, answer!);
    }
    await page.getByText("Ready").waitFor();
    model.add([text("It was about words.")]);
    await page.getByRole("button", { name: "Cost and context" }).click();
    await page.getByRole("button", { name: "Summarise the conversation now" }).click();
    await page
      .getByRole("log")
      .getByText(/^Summary of \d+ tokens$/)
      .click({ force: true, trial: true });
    await page.keyboard.press("Escape");
    await page
      .getByRole("log")
      .getByText(/^Summary of \d+ tokens$/)
      .click();
    await waitForText(page, "It was about words.");
  });
}
