/** Tests what a killed process left in the log, and what becomes of it when the session is opened again. */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { createAssistantMessage } from "@tau/ai/internal";
import { call, text } from "@tau/ai/testing";
import { type FileSystem, nodeFileSystem } from "@tau/tools";
import { expect, test } from "vitest";
import type { AfterCrash } from "../../src/agent-session/after-crash.ts";
import { openView } from "../../src/host/hosted-session.ts";
import { customTypes } from "../../src/session/entry.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { openDesk, temporaryDirectory, until } from "./desk.ts";

const user = (words: string) => ({ role: "user" as const, content: [text(words)], timestamp: 1 });

/** The file of a session that was killed in a run, with two messages in its queue. */
async function leaveBehind(): Promise<string> {
  const directory = await temporaryDirectory();
  const session = await SessionManager.create(directory, directory);
  await session.appendMessage(user("Begin."));
  for (const [queueId, words] of [
    ["old", "Too old."],
    ["young", "Still young."],
  ] as const)
    await session.append({ type: "queue", queueId, state: "accepted", kind: "steer", content: [text(words)] });
  await session.close();
  return session.getSessionFile()!;
}

const afterCrash: AfterCrash = { wasCut: () => true, keepQueued: async () => new Set(["young"]) };

test("messages that are kept wait again under their ids and are sent once; the others are refused", async () => {
  const sessionManager = await SessionManager.open(await leaveBehind());
  const { session } = await openDesk([[text("Answered.")]], { sessionManager, afterCrash });
  expect(session.queue.steering).toEqual([{ id: "young", content: [text("Still young.")] }]);
  expect(session.isStreaming).toBe(false);
  session.runQueued();
  await session.waitForIdle();
  expect(await sessionManager.findQueued(new Set(["old", "young", "strange"]))).toEqual(
    new Map([
      ["old", "refused"],
      ["young", "said"],
    ]),
  );
  expect(session.notices.map(({ message }) => message).join()).toContain("Too old.");
});

test("a run that was cut is closed in the log once, and the view says how it ended", async () => {
  const file = await leaveBehind();
  for (const isFirst of [true, false]) {
    const sessionManager = await SessionManager.open(file);
    const { session } = await openDesk([], {
      sessionManager,
      afterCrash: { ...afterCrash, keepQueued: async () => new Set() },
    });
    const ends = (await sessionManager.getEntries()).filter(
      (entry) => entry.type === "custom" && entry.customType === customTypes.runEnded,
    );
    expect(ends).toMatchObject([{ data: { terminationReason: "gateway_disconnected" } }]);
    const { ended } = (await openView(session)).live;
    expect(ended).toEqual(isFirst ? { reason: "gateway_disconnected", detail: undefined } : undefined);
    await session.dispose();
  }
});

test("a session whose disk is full opens all the same, and is settled when it can be written", async () => {
  const directory = await temporaryDirectory();
  const killed = await SessionManager.create(directory, directory);
  await killed.appendMessage(user("Look."));
  const answer = createAssistantMessage({ api: "scripted", provider: "scripted", id: "scripted" }, 1);
  await killed.appendMessage({ ...answer, content: [call("look", {}, "call-1")], stopReason: "toolUse" });
  await killed.appendCallStarted("call-1", "look");
  await killed.close();
  const file = killed.getSessionFile()!;
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    async open(path, ...rest) {
      const handle = await nodeFileSystem.open(path, ...rest);
      const write = () => Promise.reject(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }));
      return path === file ? Object.assign(handle, { write }) : handle;
    },
  };
  const full = await openDesk([], { sessionManager: await SessionManager.open(file, { fileSystem }) });
  expect(full.session.notices).toMatchObject([{ code: "session", message: expect.stringContaining("disk is full") }]);
  expect(full.session.messages).toHaveLength(2);
  await full.session.dispose();
  const sessionManager = await SessionManager.open(file);
  const { session } = await openDesk([], { sessionManager });
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
});

test("a session that ends with a whole answer has no run to close", async () => {
  const directory = await temporaryDirectory();
  const first = await openDesk([[text("Whole.")]], {
    sessionManager: await SessionManager.create(directory, directory),
  });
  await first.session.prompt("Hello.");
  const file = first.session.sessionFile!;
  await first.session.dispose();
  const sessionManager = await SessionManager.open(file);
  const { session } = await openDesk([], { sessionManager, afterCrash });
  expect(session.cutRun).toBeUndefined();
});

test("a session that may be opened after a crash leaves its queue in the log when it is closed", async () => {
  const directory = await temporaryDirectory();
  const sessionManager = await SessionManager.create(directory, directory);
  const desk = await openDesk([() => new Promise<never>(() => {})], { sessionManager, afterCrash });
  void desk.session.prompt("Go.").catch(() => {});
  await until(() => desk.model.asked.length === 1);
  await desk.session.submit("Later.", { queue: "followUp", messageId: "later" });
  await desk.session.dispose();
  const again = await SessionManager.open(sessionManager.getSessionFile()!, { access: "read" });
  expect(await again.findQueued(new Set(["later"]))).toEqual(new Map([["later", "waiting"]]));
  await again.close();
});

test("a message that begins a run has the id that it was submitted with", async () => {
  const { session } = await openDesk([[text("Hello.")]]);
  const submission = await session.submit("Hi.", { messageId: "mine" });
  expect(await session.sessionManager.findQueued(new Set(["mine"]))).toEqual(new Map([["mine", "said"]]));
  if (submission.disposition === "started") await submission.outcome;
});

test("a new session that is persisted has a file that opens", async () => {
  const directory = await temporaryDirectory();
  const { session } = await openDesk([], { sessionManager: await SessionManager.create(directory, directory) });
  await session.persist();
  const again = await SessionManager.open(session.sessionFile!, { access: "read" });
  expect(again.id).toBe(session.sessionId);
  await again.close();
});

test("a call that waited for a person when the program was killed was not executed, and model and user are told", async () => {
  const directory = await temporaryDirectory();
  const sessionManager = await SessionManager.create(directory, directory);
  const killed = await openDesk([[call("write", { path: "/outside", content: "x" }, "call-1")]], {
    sessionManager,
    ask: "surface",
  });
  void killed.session.prompt("Write.").catch(() => {});
  await until(() => killed.events.some(({ type }) => type === "approval_requested"));
  const copy = join(directory, "copy.jsonl");
  await copyFile(killed.session.sessionFile!, copy);
  const { session, model } = await openDesk([[text("I see.")]], { sessionManager: await SessionManager.open(copy) });
  expect(session.notices).toMatchObject([
    {
      code: "call_not_finished",
      message: "These calls were not executed, because the program ended before they were started: write.",
    },
  ]);
  await session.prompt("Go on.");
  expect(JSON.stringify(model.asked[0]?.context.messages)).toContain("This call was not executed");
});
