import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionClient } from "../../src/interactive/session-client.ts";
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
    // Escape answers the question, and stops nothing.
    expect(await app.screen()).not.toContain("to stop");
    app.advance(500);
    app.press("up", "enter");
    await app.sees("A question is open: /approve answers it.");
    await app.sees("(escape to stop)");
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

describe.each(["regular", "fullscreen"] as const)("in a screen that is %s", (tuiMode) => {
  test.each([10, 9, 8, 7, 6])("all of a question is shown in %i rows, with the answers", async (rows) => {
    const path = `/etc/${Array.from({ length: 30 }, (_, index) => `part-${index}`).join("/")}/end-of-path`;
    const app = await openApp([toolReply("read", { path }), textReply("Thank you.")], {
      message: "read it",
      settings: { tuiMode },
      columns: 40,
      rows,
    });
    await app.sees(/Lines 1 to \d+ of \d+: pageDown/);
    await app.sees("→ n  No");
    app.advance(500);
    const shown: string[] = [];
    for (;;) {
      const screen = await app.screen();
      const [, first, last, count] = /Lines (\d+) to (\d+) of (\d+)/.exec(screen)!;
      const note = screen.split("\n").findIndex((line) => line.includes("Lines "));
      const height = Number(last) - Number(first) + 1;
      shown.splice(Number(first) - 1, height, ...screen.split("\n").slice(note - height, note));
      if (last === count) break;
      app.terminal.sendInput("\x1b[6~");
      await expect.poll(app.screen).not.toBe(screen);
    }
    const text = shown.map((line) => line.replace(/[│█┃ ]+$/, "").trim()).join("");
    expect(text).toContain(path);
    expect(text).toMatch(/outside the ?workspace/);
    await app.sees("pageUp");
    app.press("down");
    await app.sees("→ t  No, and tell the model why");
    app.press("enter");
    await app.sees("No, because:");
    app.type("not now");
    await app.sees("not now");
    app.press("enter");
    await expect.poll(() => app.server.requests.length).toBe(2);
    expect(JSON.stringify(app.server.requests.at(-1)!.body)).toContain("not now");
  });
});

test("a question that is open shows its answers also in a screen that has become small", async () => {
  const path = `/etc/${Array.from({ length: 30 }, (_, index) => `part-${index}`).join("/")}`;
  const app = await openApp([toolReply("read", { path }), textReply("Thank you.")], {
    message: "read it",
    columns: 40,
    rows: 24,
  });
  await app.sees("Answer later");
  app.advance(500);
  app.press("down", "down");
  await app.sees("→ 1  Yes, this once");
  app.terminal.resize(40, 6);
  await app.sees("Lines 1 to 1");
  await app.sees("→ 1  Yes, this once");
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

/** A client that does something else, also for the sessions that are shown later: late or lost, as over a gateway. */
const wrap = (client: SessionClient, change: (client: SessionClient) => Partial<SessionClient>): SessionClient => ({
  ...client,
  to: (sessionId) => wrap(client.to(sessionId), change),
  ...change(client),
});

test("a question whose answer could not be sent is asked again", async () => {
  let isAway = true;
  const app = await openApp([toolReply("read", { path: "/etc/hostname" }), textReply("Thank you.")], {
    message: "read it",
    wrapClient: (client) =>
      wrap(client, () => ({
        execute: async (command, options) => {
          if (command.type === "approve" && isAway) throw new Error("There is no connection.");
          return await client.execute(command, options);
        },
      })),
  });
  await app.sees("Allow this?");
  app.advance(500);
  app.press("enter");
  await app.sees("There is no connection.");
  await app.sees("Allow this?");
  isAway = false;
  app.advance(500);
  app.press("enter");
  await app.sees("Thank you.");
});

test("of two sessions that are opened at once only the last is followed", async () => {
  const opened: string[] = [];
  const followed: string[] = [];
  let leave = () => {};
  const left = new Promise<void>((resolve) => (leave = resolve));
  const app = await openApp([], {
    wrapClient: (first) =>
      wrap(first, (client) => {
        opened.push(client.sessionId);
        return {
          // As with an extension that takes its time to end.
          leaveFor: () => left,
          subscribe: (onSnapshot, onEvent) => {
            followed.push(client.sessionId);
            const stop = client.subscribe(onSnapshot, onEvent);
            return () => {
              followed.splice(followed.indexOf(client.sessionId), 1);
              stop();
            };
          },
        };
      }),
  });
  for (const text of ["/new ", "/new "]) {
    app.type(text);
    app.press("enter");
  }
  await expect.poll(() => opened.length).toBe(3);
  leave();
  await expect.poll(() => app.app.sessionId).toBe(opened[2]);
  await expect.poll(() => followed).toEqual([opened[2]]);
});

test("a notice that comes again with a snapshot is not said again", async () => {
  let repeat = () => {};
  const app = await openApp([], {
    wrapClient: (client) =>
      wrap(client, () => ({
        subscribe: (onSnapshot, onEvent) =>
          client.subscribe((view) => {
            repeat = () => client.subscribe(onSnapshot, () => {})();
            onSnapshot(view);
          }, onEvent),
      })),
  });
  app.notify("The disk is nearly full.");
  await app.sees("The disk is nearly full.");
  repeat();
  app.notify("The disk is full.");
  await app.sees("The disk is full.");
  expect((await app.everything()).split("nearly full").length - 1).toBe(1);
});
