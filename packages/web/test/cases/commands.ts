import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { getField, getFocused, openContext, say, type Shared, waitForOtherSession, waitForText } from "../kit.ts";
import { vectors } from "./xss-vectors.ts";

export function commandCases(shared: Shared): void {
  test("a typed command is carried out by the page, and is not told to the model", async () => {
    const { page, model } = await shared.begin([text("The answer.")]);
    await say(page, "/name A \u202ename <b>x</b>");
    await page.getByRole("heading", { name: "A \ufffdname <b>x</b>" }).waitFor();
    await say(page, "/name");
    await page.getByRole("status").getByText("Name: A U+202Ename <b>x</b>").waitFor();
    await page.getByRole("button", { name: "I have read this" }).click();
    await say(page, "/thinking high");
    await page.getByRole("button", { name: /thinking high$/ }).waitFor();
    await say(page, "/model");
    await page.getByRole("dialog", { name: "Model and thinking" }).waitFor();
    await page.keyboard.press("Escape");
    await say(page, "/help");
    await page.getByRole("dialog", { name: "Keys and commands" }).getByText("/compact [INSTRUCTIONS]").waitFor();
    await page.keyboard.press("Escape");
    await say(page, "A question");
    await waitForText(page, "The answer.");
    const asked = model.asked.length;
    await say(page, "/model no such model");
    const outgoing = page.getByRole("list", { name: "Messages on their way" });
    await outgoing.getByRole("alert").waitFor();
    await outgoing.getByRole("button", { name: "Change" }).click();
    await expect.poll(() => getField(page).inputValue()).toBe("/model no such model");
    const before = page.url();
    await say(page, "/clone");
    await waitForOtherSession(page, before);
    await waitForText(page, "The answer.");
    const cloned = page.url();
    await say(page, "/new");
    await waitForOtherSession(page, cloned);
    await page.getByText("Nothing has been said yet.").waitFor();
    // What is typed next is for the new session.
    await expect.poll(() => getFocused(page)).toBe("Message");
    // It is in the list, and stays there.
    await page.getByRole("list", { name: "Sessions" }).locator(".session.shown").waitFor();
    expect(model.asked.length).toBe(asked);
  });

  test("what looks like a command and is none is not sent, unless the user wants it", async () => {
    const { page, model, answers } = await shared.begin([text("Sent.")]);
    const asked = model.asked.length;
    const outgoing = page.getByRole("list", { name: "Messages on their way" });
    for (const command of ["/login anthropic", "/modle x"]) {
      await say(page, command);
      await outgoing.getByText(`There is no command ${command.split(" ")[0]} here.`).waitFor();
      await outgoing.getByRole("button", { name: "Change" }).click();
      await outgoing.waitFor({ state: "detached" });
      expect(await getField(page).inputValue()).toBe(command);
    }
    answers.length = 0;
    await say(page, `/ask ${JSON.stringify(["notify", "From the extension"])}`);
    // What was typed is shown too if it takes a while.
    await page.locator(".notice").getByText("From the extension").waitFor();
    expect(model.asked.length).toBe(asked);
    await say(page, "/tmp is full");
    await outgoing.getByRole("button", { name: "Send as a message" }).click();
    await waitForText(page, "Sent.");
    await page.getByRole("log").getByText("/tmp is full").waitFor();
  });

  test("commands and files are completed with the keyboard", async () => {
    const { page, workspace } = await shared.begin([text("Seen.")]);
    const list = page.getByRole("listbox", { name: "Completions" });
    const field = getField(page);
    await field.pressSequentially("/");
    await list.getByRole("option", { name: /^ask/ }).waitFor();
    await field.pressSequentially("he");
    await expect.poll(() => list.getByRole("option").count()).toBe(1);
    expect(await field.getAttribute("aria-activedescendant")).toBe(await list.getByRole("option").getAttribute("id"));
    // The first Escape closes the list, and the field keeps its text and the focus.
    await field.press("Escape");
    await list.waitFor({ state: "detached" });
    await field.pressSequentially("l");
    await list.waitFor();
    await field.press("Enter");
    const help = page.getByRole("dialog", { name: "Keys and commands" });
    await help.waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    expect(await field.inputValue()).toBe("");
    await field.pressSequentially("/t");
    await list.getByRole("option", { name: /^theme/ }).waitFor();
    await field.press("ArrowDown");
    await field.press("ArrowUp");
    await field.press("ArrowUp");
    await field.press("Tab");
    expect(await field.inputValue()).toBe("/tree ");
    await list.waitFor({ state: "detached" });
    await mkdir(join(workspace, "some files"));
    await writeFile(join(workspace, "some files", vectors[9]!), "");
    await field.fill("");
    await field.pressSequentially("See @some");
    await list.getByRole("option", { name: '"some files/"', exact: false }).first().waitFor();
    await field.press("Enter");
    expect(await field.inputValue()).toBe('See @"some files/"');
    // What is in the directory follows, and its name is text.
    await list.getByRole("option", { name: vectors[9]! }).waitFor();
    await field.press("Enter");
    expect(await field.inputValue()).toBe(`See @"some files/${vectors[9]!}" `);
    await list.waitFor({ state: "detached" });
    await field.press("Enter");
    await waitForText(page, "Seen.");
  });

  test("a device that may do everything shares a session as a link and as a file, and takes the link back", async () => {
    const { page, browser, gateway, url } = await shared.begin();
    await gateway.parts.settings.update("global", { gateway: { shares: true } });
    onTestFinished(() => gateway.parts.settings.update("global", { gateway: { shares: false } }));
    const admin = await openContext(browser, gateway);
    onTestFinished(admin.close);
    await admin.page.goto(page.url());
    await admin.pair(["read", "write", "admin"]);
    await say(admin.page, "/share");
    const dialog = admin.page.getByRole("dialog", { name: "Share" });
    await dialog.getByRole("button", { name: "Make a link" }).click();
    const address = await dialog.getByRole("status").innerText();
    expect(address).toMatch(new RegExp(`^${url}/share/[\\w-]{43}$`));
    expect((await fetch(address)).status).toBe(200);
    await dialog.getByRole("button", { name: /^Write a file/ }).click();
    await dialog.getByText(/^Written to .*exports.*\.html on the gateway/).waitFor();
    await dialog.getByRole("button", { name: /^Take back/ }).click();
    await dialog.getByRole("button", { name: /^Take back/ }).waitFor({ state: "detached" });
    expect((await fetch(address)).status).toBe(404);
  });

  test("a conversation is downloaded as a file that can be imported, and tools are chosen by who may", async () => {
    const { page, workspace, browser, gateway } = await shared.begin([text("An answer to keep.")]);
    await say(page, "Keep this");
    await waitForText(page, "An answer to keep.");
    const downloading = page.waitForEvent("download");
    await say(page, "/export");
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^tau-session-[\w-]+\.jsonl$/);
    const path = join(workspace, "downloaded.jsonl");
    await download.saveAs(path);
    const lines = (await readFile(path, "utf8")).trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(
      expect.arrayContaining(["session", "message"]),
    );
    // What concerns the gateway's machine needs a device that may do more.
    await say(page, `/import ${path}`);
    await page.getByText("needs the scope admin, which this device does not have.").waitFor();
    const admin = await openContext(browser, gateway);
    onTestFinished(admin.close);
    await admin.page.goto(page.url());
    await admin.pair(["read", "write", "admin"]);
    await say(admin.page, "/export kept.html");
    await admin.page.getByRole("status").getByText("kept.html on the gateway's machine.").waitFor();
    await say(admin.page, "/tools");
    const tools = admin.page.getByRole("dialog", { name: "Tools" });
    await tools.getByRole("button", { name: /^write/, pressed: true }).click();
    await tools.getByRole("button", { name: /^write/, pressed: false }).waitFor();
    await admin.page.keyboard.press("Escape");
    await say(page, "/tools");
    await page.getByRole("dialog", { name: "Tools" }).getByRole("button", { name: /^read/ }).waitFor();
    expect(
      await page
        .getByRole("dialog")
        .getByRole("button", { name: /^write/ })
        .isDisabled(),
    ).toBe(true);
    await page.keyboard.press("Escape");
    await say(admin.page, "/settings");
    await admin.page.getByRole("searchbox", { name: "Search settings" }).fill("keepRecent");
    await admin.page.getByRole("dialog").getByText("compaction.keepRecentTokens").waitFor();
    await admin.page.keyboard.press("Escape");
    await say(admin.page, `/import ${path}`);
    await waitForOtherSession(admin.page, page.url());
    await waitForText(admin.page, "An answer to keep.");
  });
}
