import { call, scriptedModel, text } from "@tau/ai/testing";
import { createAgentSession, SettingsManager } from "@tau/harness";
import { expect, test } from "vitest";
import { getFocused, say, type Shared, waitForText } from "../kit.ts";

export function approvalCases(shared: Shared): void {
  test("a question shows every character of what would run, and no is told to the model", async () => {
    // Outside of the session's directory and of that for temporary files, wherever this repository is. For a file that is
    // directly in the root, its directory is not offered.
    const path = "/etc/a\u202eb\u200bc.txt";
    const { page, model } = await shared.begin([call("read", { path })], [text("I see.")]);
    await say(page, "Read it.");
    const question = page.getByRole("alertdialog", { name: "A question" });
    await question.waitFor();
    // What is drawn after the question itself may come a moment later.
    await expect.poll(() => page.title()).toMatch(/^\? /);
    const getFacts = () => question.locator(".question-facts").first().textContent();
    for (const code of ["U+202E", "U+200B"]) await expect.poll(getFacts).toContain(code);
    for (const name of [
      "Yes, this once",
      "Yes, for this session: read everything in",
      "Always in this project: read",
    ]) {
      await question.getByRole("button", { name, exact: false }).first().waitFor();
    }
    // The gateway denies it when nobody answers, and says how long it waits.
    await expect.poll(() => question.locator(".question-time").textContent()).toMatch(/^ ?[45]:\d\d left$/);
    // What stands out allows nothing.
    expect(await question.locator(".primary").allTextContents()).toEqual(["No"]);
    await question.getByLabel("Why not").fill("Not from there.");
    await question.getByRole("button", { name: "No", exact: true }).click();
    await waitForText(page, "I see.");
    await waitForText(page, "not allowed");
    expect(JSON.stringify(model.asked.at(-1)!.context.messages)).toContain("Not from there.");
    // What had the focus is gone.
    await expect.poll(() => getFocused(page)).toBe("Message");
  });

  test("what is allowed once runs", async () => {
    const path = "/etc/os-release";
    const { page, model } = await shared.begin([call("read", { path })], [text("Read.")]);
    await say(page, "Read it.");
    await page.getByRole("button", { name: "Yes, this once" }).click();
    await waitForText(page, "Read.");
    expect(JSON.stringify(model.asked.at(-1)!.context.messages)).toContain("NAME=");
  });

  test("a question is answered by the keys y, n and the number of a choice", async () => {
    const path = "/etc/os-release";
    const read = () => [call("read", { path })];
    const { page, model } = await shared.begin(read(), [text("Denied.")], read(), [text("Read.")], read(), [
      text("The third."),
    ]);
    const press = async (key: string) => {
      const question = page.getByRole("alertdialog", { name: "A question" });
      await question.getByRole("button", { name: "Yes, this once" }).and(page.locator(":enabled")).waitFor();
      await question.focus();
      await page.keyboard.press(key);
    };
    await say(page, "Read it.");
    await press("n");
    await waitForText(page, "Denied.");
    await say(page, "Read it again.");
    await press("2");
    await waitForText(page, "Read.");
    // It was allowed for the session.
    await say(page, "Once more.");
    await waitForText(page, "The third.");
    expect(JSON.stringify(model.asked.at(-1)!.context.messages)).toContain("NAME=");
  });

  test("a question that another process has left is answered in the page, and the run that asked continues", async () => {
    const { page, model, agentDir, workspace, url } = await shared.begin();
    const asking = scriptedModel([[call("read", { path: "/etc/os-release" })]]);
    const session = await createAgentSession({
      cwd: workspace,
      agentDir,
      model: asking,
      settingsManager: SettingsManager.inMemory({ approvals: { later: true } }),
    });
    const { sessionId } = session;
    const outcome = await session.prompt("Read it.");
    expect(outcome).toMatchObject({ kind: "ran", end: { kind: "asked" } });
    await session.dispose();
    asking.dispose();

    model.add([text("It is read.")]);
    await page.goto(`${url}/#/session/${sessionId}`);
    await page.getByRole("button", { name: "Yes, this once" }).click();
    await waitForText(page, "It is read.");
    expect(JSON.stringify(model.asked.at(-1)!.context.messages)).toContain("NAME=");
    // It was used.
    await page.reload();
    await waitForText(page, "It is read.");
    expect(await page.getByRole("alertdialog", { name: "A question" }).count()).toBe(0);
  });
}
