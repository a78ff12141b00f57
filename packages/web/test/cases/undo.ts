import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { getField, say, type Shared, waitForText } from "../kit.ts";

export function undoCases(shared: Shared): void {
  test("what a prompt did to the files is shown and taken back, done again, and offered by the tree", async () => {
    const write = [call("write", { path: "undone.txt", content: "one <b>\n" })];
    const { page, workspace } = await shared.begin(write, [text("Written.")]);
    const path = join(workspace, "undone.txt");
    onTestFinished(() => rmSync(path, { force: true }));
    const question = page.getByRole("alertdialog", { name: "An extension asks" });
    const notes = page.getByRole("button", { name: "I have read this" });
    // Not with `click`, which would wait for a note that is gone in the next frame.
    const readNotes = async () => {
      await expect
        .poll(async () => {
          await notes.evaluateAll((all) => (all as HTMLElement[]).forEach((button) => button.click()));
          return await notes.count();
        })
        .toBe(0);
    };
    await say(page, "Write it");
    await waitForText(page, "Written.");
    await page.getByText("Ready").waitFor();

    await say(page, "/undo");
    await question.getByRole("button", { name: "Take back the files", exact: true }).waitFor();
    await expect.poll(() => page.locator(".notice .removed").innerText()).toContain("- one <b>");
    expect(existsSync(path)).toBe(true);
    await question.getByRole("button", { name: "Take back the files", exact: true }).click();
    await expect.poll(() => existsSync(path)).toBe(false);
    await say(page, "/redo");
    await question.getByRole("button", { name: "Do it again" }).click();
    await expect.poll(() => existsSync(path)).toBe(true);
    await question.waitFor({ state: "detached" });
    await readNotes();

    writeFileSync(path, "mine\n");
    await say(page, "/undo");
    await page.locator(".notice.warning").filter({ hasText: "undone.txt was changed since" }).waitFor();
    expect(await question.count()).toBe(0);
    expect(readFileSync(path, "utf8")).toBe("mine\n");
    await readNotes();

    writeFileSync(path, "one <b>\n");
    const goBack = async (choice: string | RegExp) => {
      await page.getByRole("button", { name: "Tree of the session" }).click();
      await page.getByRole("dialog", { name: "Tree" }).getByText("Write it").click();
      await page.getByRole("button", { name: "Go here", exact: true }).click();
      const offer = page.getByRole("dialog", { name: "Take the files back too?" });
      await expect.poll(() => offer.locator(".removed").innerText()).toContain("- one <b>");
      await offer.getByRole("button", { name: choice }).click();
      await offer.waitFor({ state: "detached" });
    };
    // Closing the offer changes nothing.
    await goBack("Close");
    expect(existsSync(path)).toBe(true);
    await page.getByRole("dialog", { name: "Tree" }).getByRole("button", { name: "Close" }).click();
    await waitForText(page, "Written.");
    await goBack(/The conversation and the files \(1 file\)/);
    await expect.poll(() => existsSync(path)).toBe(false);
    await expect.poll(() => getField(page).inputValue()).toBe("Write it");
    await page.getByRole("status").getByText("1 file written.").waitFor();
  });
}
