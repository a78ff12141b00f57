import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { textReply, toolReply } from "../kit.ts";
import { openApp } from "./kit.ts";

/** Opens the editor of the first message that is queued. */
async function editFirst(app: Awaited<ReturnType<typeof openApp>>): Promise<void> {
  app.type("/queue ");
  app.press("enter");
  await app.sees("Queued messages");
  app.press("enter");
  await app.sees("Edit");
  app.press("enter");
}

describe("/queue", () => {
  test("edits and removes what is queued", async () => {
    const waiting = toolReply("bash", { command: "until [ -e go ]; do sleep 0.02; done" });
    const app = await openApp([waiting, textReply("Done."), textReply("Sung.")], { message: "wait" });
    await app.sees("Running bash");
    for (const text of ["sing", "dance"]) {
      app.type(text);
      app.press("altEnter");
      await app.sees(text);
    }
    app.type("/queue ");
    app.press("enter");
    await app.sees("Queued messages");
    app.press("down", "enter");
    await app.sees("Remove");
    app.press("down", "enter");
    await expect.poll(app.screen).not.toContain("dance");
    await editFirst(app);
    await app.sees(/─\nsing\n─/);
    app.type(" loudly");
    app.press("enter");
    await app.sees("sing loudly");
    await writeFile(join(app.directory, "go"), "");
    await app.sees("Sung.");
    const sent = JSON.stringify(app.server.requests.at(-1)!.body);
    expect(sent).toContain("sing loudly");
    expect(sent).not.toContain("dance");
  });

  test("edits the lines that were typed, and what goes along stays", async () => {
    const waiting = toolReply("bash", { command: "until [ -e go ]; do sleep 0.02; done" });
    const app = await openApp([waiting, textReply("Done."), textReply("Sung.")], { message: "wait" });
    await app.sees("Running bash");
    await writeFile(join(app.directory, "song.txt"), "La la la.");
    app.terminal.sendInput("\x1b[200~sing @song.txt\nand dance\x1b[201~");
    app.press("altEnter");
    await app.sees("later: sing @song.txt");
    await editFirst(app);
    await app.sees(/─\nsing @song.txt\nand dance\n─/);
    app.type(" loudly");
    app.press("enter");
    await app.sees("and dance loudly");
    await writeFile(join(app.directory, "go"), "");
    await app.sees("Sung.");
    const sent = JSON.stringify(app.server.requests.at(-1)!.body);
    expect(sent).toContain("sing @song.txt\\nand dance loudly");
    expect(sent.split("La la la.")).toHaveLength(2);
  });
});

test("what was edited too late comes to the editor", async () => {
  const waiting = toolReply("bash", { command: "until [ -e go ]; do sleep 0.02; done" });
  const app = await openApp([waiting, textReply("Done."), textReply("Sung.")], { message: "wait" });
  await app.sees("Running bash");
  app.type("sing");
  app.press("altEnter");
  await app.sees("later: sing");
  await editFirst(app);
  await app.sees(/─\nsing\n─/);
  await writeFile(join(app.directory, "go"), "");
  await app.sees("Sung.");
  app.type(" loudly");
  app.press("enter");
  await app.sees("is waiting any more");
  await app.sees(/─\nsing loudly\n─/);
});

describe("/approve", () => {
  test("says that no question is open", async () => {
    const app = await openApp([]);
    app.type("/approve ");
    app.press("enter");
    await app.sees("No question is open.");
  });

  test("lists the questions that were put off, and answers one", async () => {
    const app = await openApp([toolReply("read", { path: "/etc/hostname" }), textReply("Thank you.")], {
      message: "read it",
    });
    await app.sees("Allow this?");
    app.advance(500);
    app.press("up", "enter");
    await app.sees("A question is open: /approve answers it.");
    expect(await app.screen()).not.toContain("Allow this?");
    app.type("/approve ");
    app.press("enter");
    await app.sees("Open questions");
    app.press("enter");
    await app.sees("Allow this?");
    app.advance(500);
    app.press("down", "down", "enter");
    await app.sees("Thank you.");
    expect(JSON.stringify(app.server.requests.at(-1)!.body)).not.toContain("did not allow");
  });
});

test("a question that is longer than the screen is shown from its beginning, and keys show the rest", async () => {
  const path = `/etc/${Array.from({ length: 30 }, (_, index) => `part-${index}`).join("/")}/end-of-path`;
  const app = await openApp([toolReply("read", { path }), textReply("Thank you.")], {
    message: "read it",
    columns: 40,
    rows: 10,
  });
  await app.sees("Allow this?");
  const first = await app.screen();
  expect(first).toContain("part-0");
  expect(first).toContain("→ No");
  expect(first).toMatch(/Lines 1 to \d+ of \d+: pageDown/);
  app.advance(500);
  for (let page = 0; page < 40; page++) app.terminal.sendInput("\x1b[6~");
  await app.sees(/outside the\s+workspace/);
  await app.sees("pageUp");
  app.press("enter");
  await app.sees("Thank you.");
});

test("/new stops the run of the session that is left, and says so", async () => {
  const waiting = toolReply("bash", { command: "sleep 100" });
  const app = await openApp([waiting, textReply("Here.")], { message: "wait" });
  await app.sees("Running bash");
  const before = app.app.sessionId;
  app.type("/new ");
  app.press("enter");
  await app.sees("The run in the other session was stopped.");
  expect(app.app.sessionId).not.toBe(before);
  const sessions = join(app.agentDir, "sessions");
  const path = (await readdir(sessions, { recursive: true })).find((name) => name.endsWith(`${before}.jsonl`));
  expect(await readFile(join(sessions, path!), "utf8")).toContain(`"role":"toolResult"`);
  app.type("next");
  app.press("enter");
  await app.sees("Here.");
  expect(await app.screen()).not.toContain("Running");
});
