import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage } from "@tau/agent";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SessionManager } from "../src/session/session-manager.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tau-sessions-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const user = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const textsOf = async (session: SessionManager) =>
  (await session.buildContext()).messages.map((message) => JSON.stringify(message).match(/"text":"([^"]*)"/)?.[1]);

const homes = {
  "in a file": () => SessionManager.create("/project", directory),
  "in memory": () => SessionManager.inMemory("/project"),
};

describe.each(Object.entries(homes))("a session %s", (_name, create) => {
  test("remembers what was appended, each entry the child of the one before", async () => {
    const session = await create();
    const ids = [await session.appendMessage(user("a")), await session.appendMessage(user("b"))];
    await session.appendThinkingLevelChange("high");
    const branch = await session.getBranch();
    expect(branch.map(({ parentId }) => parentId)).toEqual([null, ...ids]);
    expect(ids.every((id) => /^[0-9a-f]{8}$/.test(id))).toBe(true);
    expect(await textsOf(session)).toEqual(["a", "b"]);
    expect((await session.buildContext()).thinkingLevel).toBe("high");
    await session.close();
  });

  test("shares ancestors when the person goes back", async () => {
    const session = await create();
    const first = await session.appendMessage(user("a"));
    await session.appendMessage(user("b"));
    await session.navigate(first);
    expect(session.getLeafId()).toBe(first);
    await session.appendMessage(user("c"));
    expect(await textsOf(session)).toEqual(["a", "c"]);
    const [root] = await session.getTree();
    expect(root!.children.filter(({ entry }) => entry.type === "message")).toHaveLength(2);
    await session.close();
  });

  test("branches into a session of its own", async () => {
    const session = await create();
    const first = await session.appendMessage(user("a"));
    const second = await session.appendMessage(user("b"));
    await session.appendLabelChange(first, "start");
    const branch = await session.branchSession(session.id, first);
    expect(branch).toMatchObject({ parentId: session.id, branchPoint: first });
    expect(await textsOf(branch)).toEqual(["a"]);
    expect(await branch.getLabel(first)).toBe("start");
    expect(await branch.getEntry(second)).toBeUndefined();
    await branch.close();
    const again = await session.loadSession(branch.id);
    expect(await textsOf(again)).toEqual(["a"]);
    await expect(session.loadSession("nobody")).rejects.toThrow("There is no session");
    await again.close();
    await session.close();
  });
});

test("a session that was never used leaves nothing behind", async () => {
  const session = await SessionManager.create("/project", join(directory, "deep"));
  await session.close();
  expect(await readdir(directory)).toEqual([]);
});

test("a session goes on where the person stood, also when they had gone back", async () => {
  const session = await SessionManager.create("/project", directory);
  const first = await session.appendMessage(user("a"));
  await session.appendMessage(user("b"));
  await session.navigate(first);
  await session.close();
  const again = await SessionManager.open(session.getSessionFile()!);
  expect(again.getLeafId()).toBe(first);
  await again.navigate(null);
  await again.close();
  const third = await SessionManager.continueRecent("/project", directory);
  expect(third.getLeafId()).toBeNull();
  expect(third.id).toBe(session.id);
  await third.close();
});

test("who comes second may read, and is told who writes", async () => {
  const session = await SessionManager.create("/project", directory);
  await session.appendMessage(user("a"));
  const second = await SessionManager.open(session.getSessionFile()!);
  expect(second.readOnly).toMatchObject({ reason: "held", holder: { pid: process.pid } });
  await expect(second.appendMessage(user("b"))).rejects.toThrow(`written by process ${process.pid}`);
  await session.close();
  await second.close();
  const third = await SessionManager.open(session.getSessionFile()!);
  await third.appendMessage(user("c"));
  expect(await textsOf(third)).toEqual(["a", "c"]);
  await third.close();
});

test("the file is pi's: a header, then lines with ids, and only its owner may read it", async () => {
  const session = await SessionManager.create("/project", directory, { id: "my-session" });
  await session.appendMessage(user("a"));
  const path = session.getSessionFile()!;
  const lines = (await readFile(path, "utf8"))
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as object);
  expect(lines).toMatchObject([
    { type: "session", version: 3, id: "my-session", cwd: "/project" },
    { type: "message", parentId: null },
  ]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await session.close();
});

test("unknown entries and fields survive, and a file of another writer goes on", async () => {
  const path = join(directory, "2026-01-01T00-00-00-000Z_other.jsonl");
  const header =
    '{"type":"session","version":3,"id":"other","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x","new":1}';
  const strange =
    '{"type":"strange","id":"not hex","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","x":{"y":1}}';
  await writeFile(path, `${header}\r\n\n${strange}`);
  const session = await SessionManager.open(path);
  expect(session.problems).toEqual([]);
  expect(session.getLeafId()).toBe("not hex");
  await session.appendMessage(user("a"));
  expect(await session.getBranch()).toMatchObject([{ type: "strange", x: { y: 1 } }, { type: "message" }]);
  const copy = await session.branchSession("other", session.getLeafId()!);
  expect(await copy.getEntries()).toMatchObject([{ type: "strange", x: { y: 1 } }, { type: "message" }]);
  expect((await readFile(path, "utf8")).startsWith(`${header}\r\n\n${strange}\n{"type":"message"`)).toBe(true);
  await copy.close();
  await session.close();
});

test("a session of version 1 is read as it is, and brought up to date by who writes to it, with the old file kept", async () => {
  const path = join(directory, "2025-01-01T00-00-00-000Z_old.jsonl");
  const old = [
    { type: "session", id: "old", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/x" },
    { type: "message", timestamp: "2025-01-01T00:00:01.000Z", message: user("a") },
    { type: "message", timestamp: "2025-01-01T00:00:02.000Z", message: { ...user("b"), role: "hookMessage" } },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
  await writeFile(path, old);
  const reader = await SessionManager.open(path, { access: "read" });
  expect(await reader.getEntries()).toMatchObject([{ parentId: null }, { message: { role: "custom" } }]);
  expect(await readFile(path, "utf8")).toBe(old);
  const writer = await SessionManager.open(path);
  expect(await writer.getEntries()).toEqual((await reader.getEntries()).map((entry) => expect.objectContaining(entry)));
  await writer.appendMessage(user("c"));
  expect(writer.problems).toEqual([]);
  expect(await writer.getBranch()).toHaveLength(3);
  const [kept] = (await readdir(directory)).filter((name) => name.includes(".old-"));
  expect(await readFile(join(directory, kept!), "utf8")).toBe(old);
  await writer.close();
});

test("a call that a crash interrupted has an unknown outcome, and one that was not started has none", async () => {
  const session = await SessionManager.inMemory();
  const call = (id: string) => ({ type: "toolCall", id, name: "bash", arguments: {} });
  await session.appendMessage(user("go"));
  await session.appendMessage({
    role: "assistant",
    content: [call("1"), call("2"), call("3")],
    stopReason: "toolUse",
  } as unknown as AgentMessage);
  for (const id of ["1", "2"]) await session.appendCallStarted(id, "bash");
  await session.appendMessage({ role: "toolResult", toolCallId: "1" } as unknown as AgentMessage);
  expect(await session.unfinishedCalls()).toMatchObject([
    { call: { id: "2" }, hasStarted: true },
    { call: { id: "3" }, hasStarted: false },
  ]);
  await session.settleUnfinishedCalls();
  expect(await session.unfinishedCalls()).toEqual([]);
  expect((await session.buildContext()).messages.slice(-2)).toMatchObject([
    { toolCallId: "2", isError: true, details: { outcome: "unknown" } },
    { toolCallId: "3", isError: true, details: { outcome: "not_run" } },
  ]);
});

test("a file of version 1 whose header is fused with its first entry, or lost, is brought up to date once", async () => {
  const header = '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/x"}';
  const entries = ["a", "b"].map((text) =>
    JSON.stringify({ type: "message", timestamp: "2025-01-01T00:00:01.000Z", message: user(text) }),
  );
  const files = { fused: `${header}${entries[0]}\n${entries[1]}\n`, lost: `{"type\n${entries.join("\n")}\n` };
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name, `2025-01-01T00-00-00-000Z_${name}.jsonl`);
    await mkdir(join(directory, name));
    await writeFile(path, text);
    const session = await SessionManager.open(path);
    expect(await textsOf(session)).toEqual(["a", "b"]);
    await session.appendMessage(user("c"));
    await session.close();
    const again = await SessionManager.open(path);
    expect(await textsOf(again)).toEqual(["a", "b", "c"]);
    await again.close();
    expect((await readdir(join(directory, name))).filter((file) => file.includes(".old-"))).toHaveLength(1);
  }
});

test("ids of any kind become eight hex digits, and a source that repeats itself is named", async () => {
  let count = 0;
  const counting = await SessionManager.inMemory("/x", { ids: () => `id-${++count}` });
  const ids = [await counting.appendMessage(user("a")), await counting.appendMessage(user("b"))];
  expect(new Set(ids).size).toBe(2);
  expect(ids.every((id) => /^[0-9a-f]{8}$/.test(id))).toBe(true);
  const stuck = await SessionManager.inMemory("/x", { ids: () => "same" });
  await stuck.appendMessage(user("a"));
  await expect(stuck.appendMessage(user("b"))).rejects.toThrow("the same ones again");
});
