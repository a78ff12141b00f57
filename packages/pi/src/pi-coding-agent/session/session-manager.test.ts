import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AssistantMessage, emptyUsage, type UserMessage } from "@tau/ai";
import { SessionManager as OwnSessionManager } from "@tau/harness/session";
import { SessionManager } from "./session-manager.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pi-session-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const user = (text: string): UserMessage => ({ role: "user", content: text, timestamp: 1 });
const assistant = (text: string): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  api: "anthropic-messages",
  provider: "anthropic",
  model: "claude",
  usage: emptyUsage(),
  stopReason: "stop",
  timestamp: 2,
});
const readLines = (path: string) =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("a session without an answer leaves no file, and its first answer writes everything before it", () => {
  const session = SessionManager.create(directory, directory);
  const file = session.getSessionFile()!;
  session.appendModelChange("anthropic", "claude");
  session.appendMessage(user("hello"));
  expect(existsSync(file)).toBe(false);
  session.appendMessage(assistant("hi"));
  session.appendCustomEntry("state", { count: 1 });
  expect(readLines(file).map(({ type }) => type)).toEqual(["session", "model_change", "message", "message", "custom"]);
});

test("tau's own session manager opens the file and continues it, and this one reads what it wrote", async () => {
  const session = SessionManager.create(directory, directory);
  session.appendMessage(user("hello"));
  session.appendMessage(assistant("hi"));
  session.appendLabelChange(session.getEntries()[0]!.id, "start");
  session.appendSessionInfo("my session");

  const own = await OwnSessionManager.open(session.getSessionFile()!);
  expect(own.readOnly).toBeUndefined();
  expect(own.problems).toEqual([]);
  expect((await own.buildContext()).messages).toMatchObject([user("hello"), assistant("hi")]);
  await own.appendMessage(user("again"));
  await own.close();

  const reopened = SessionManager.open(session.getSessionFile()!);
  expect(reopened.getSessionId()).toBe(session.getSessionId());
  expect(reopened.buildSessionContext().messages).toMatchObject([user("hello"), assistant("hi"), user("again")]);
  expect(reopened.getSessionName()).toBe("my session");
  expect(reopened.getLabel(reopened.getEntries()[0]!.id)).toBe("start");
});

test("branches share a file, and a summary stands for the one that was left", () => {
  const session = SessionManager.inMemory();
  const first = session.appendMessage(user("first"));
  session.appendMessage(assistant("one way"));
  session.branch(first);
  const other = session.appendMessage(assistant("another way"));
  expect(session.getBranch().map(({ id }) => id)).toEqual([first, other]);
  expect(session.getTree()).toMatchObject([{ entry: { id: first }, children: [{}, { entry: { id: other } }] }]);
  expect(session.getChildren(first)).toHaveLength(2);

  const summary = session.branchWithSummary(first, "tried another way");
  expect(session.getEntry(summary)).toMatchObject({ type: "branch_summary", parentId: first, fromId: first });
  expect(session.buildSessionContext().messages).toMatchObject([
    user("first"),
    { role: "branchSummary", summary: "tried another way" },
  ]);
  session.resetLeaf();
  expect(session.getLeafId()).toBeNull();
  expect(session.buildSessionContext().messages).toEqual([]);
  expect(() => session.branch("missing")).toThrow("Entry missing not found");
});

test("after a compaction the context is its summary, what it kept and what follows", () => {
  const session = SessionManager.inMemory();
  session.appendMessage(user("old"));
  session.appendMessage(assistant("old answer"));
  const kept = session.appendMessage(user("kept"));
  session.appendMessage(assistant("kept answer"));
  session.appendCompaction("what was old", kept, 1_000);
  session.appendMessage(user("new"));
  session.appendThinkingLevelChange("high");
  expect(session.buildSessionContext()).toMatchObject({
    messages: [
      { role: "compactionSummary", summary: "what was old", tokensBefore: 1_000 },
      user("kept"),
      assistant("kept answer"),
      user("new"),
    ],
    thinkingLevel: "high",
    model: { provider: "anthropic", modelId: "claude" },
  });
});

test("a branched session has the branch alone, with its labels, in a file of its own", () => {
  const session = SessionManager.create(directory, directory);
  const first = session.appendMessage(user("first"));
  const answer = session.appendMessage(assistant("answer"));
  session.appendLabelChange(answer, "here");
  session.appendMessage(user("later"));
  const parent = session.getSessionFile()!;

  const file = session.createBranchedSession(answer)!;
  expect(file).not.toBe(parent);
  expect(readLines(file)).toMatchObject([
    { type: "session", parentSession: parent },
    { id: first, parentId: null },
    { id: answer, parentId: first },
    { type: "label", targetId: answer, label: "here" },
  ]);
  expect(session.getLabel(answer)).toBe("here");
  expect(SessionManager.open(parent).getEntries()).toHaveLength(4);
  expect(() => session.createBranchedSession("missing")).toThrow("Entry missing not found");
});

test("a file that is not a session is moved aside when a session takes its name", () => {
  const path = join(directory, "notes.jsonl");
  writeFileSync(path, "my notes\n");
  const session = SessionManager.open(path);
  expect(session.getSessionFile()).toBe(path);
  expect(readLines(path)).toMatchObject([{ type: "session", version: 3, id: session.getSessionId() }]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(path, "other notes\n");
  SessionManager.open(path);
  const aside = readdirSync(directory).filter((name) => name.startsWith("notes.jsonl.damaged-"));
  expect(aside.map((name) => readFileSync(join(directory, name), "utf8")).sort()).toEqual([
    "my notes\n",
    "other notes\n",
  ]);
  const missing = join(directory, "missing.jsonl");
  SessionManager.open(missing);
  expect(existsSync(missing)).toBe(false);
});

test("after a write that was cut off, the session goes on in a new line", () => {
  const path = SessionManager.create(directory, directory).getSessionFile()!;
  const session = SessionManager.open(path);
  session.appendMessage(user("hello"));
  session.appendMessage(assistant("hi"));
  appendFileSync(path, '{"type":"mess');
  const reopened = SessionManager.open(path);
  reopened.appendMessage(user("again"));
  reopened.appendMessage(assistant("still here"));
  expect(SessionManager.open(path).buildSessionContext().messages).toMatchObject([
    user("hello"),
    assistant("hi"),
    user("again"),
    assistant("still here"),
  ]);
});

test("entries that could not be written are written with the next one", () => {
  const session = SessionManager.create(directory, directory);
  const path = session.getSessionFile()!;
  session.appendMessage(user("hello"));
  session.appendMessage(assistant("hi"));
  renameSync(path, `${path}.away`);
  mkdirSync(path);
  expect(() => session.appendMessage(user("lost"))).toThrow("EISDIR");
  rmdirSync(path);
  renameSync(`${path}.away`, path);
  session.appendMessage(assistant("found"));
  expect(SessionManager.open(path).getBranch()).toEqual(session.getBranch());
  expect(SessionManager.open(path).getEntries()).toHaveLength(4);
});

test("a session in memory that is given a file reads it and never writes it", () => {
  const stored = SessionManager.create(directory, directory);
  stored.appendMessage(user("hello"));
  stored.appendMessage(assistant("hi"));
  const path = stored.getSessionFile()!;
  const before = readFileSync(path, "utf8");
  const session = SessionManager.inMemory(directory);
  session.setSessionFile(path);
  session.appendMessage(user("again"));
  expect(session.getEntries()).toHaveLength(3);
  writeFileSync(join(directory, "notes.jsonl"), "my notes\n");
  session.setSessionFile(join(directory, "notes.jsonl"));
  session.appendMessage(assistant("hi"));
  expect(readFileSync(path, "utf8")).toBe(before);
  expect(readFileSync(join(directory, "notes.jsonl"), "utf8")).toBe("my notes\n");
});

test("files of version 1 get ids when they are opened, and the old file is kept", () => {
  const path = join(directory, "old.jsonl");
  const lines = [
    { type: "session", id: "old", timestamp: "2025-01-01T00:00:00.000Z", cwd: directory },
    { type: "message", timestamp: "2025-01-01T00:00:01.000Z", message: user("hello") },
    { type: "message", timestamp: "2025-01-01T00:00:02.000Z", message: assistant("hi") },
  ];
  const content = `${lines.map((line) => JSON.stringify(line)).join("\n")}\nnot JSON\n`;
  writeFileSync(path, content);
  const [first, second] = SessionManager.open(path).getEntries();
  expect(second!.parentId).toBe(first!.id);
  expect(readLines(path)).toMatchObject([{ version: 3 }, { id: first!.id }, { id: second!.id }]);
  const [old, ...others] = readdirSync(directory).filter((name) => name !== "old.jsonl");
  expect(others).toEqual([]);
  expect(old).toMatch(/^old\.jsonl\.old-/);
  expect(readFileSync(join(directory, old!), "utf8")).toBe(content);
});

test("sessions are listed with their text, the last used first, and found by id", async () => {
  const older = SessionManager.create(directory, directory);
  older.appendMessage({ ...user("about apples"), timestamp: 1_000 });
  older.appendMessage({ ...assistant("apples it is"), timestamp: 2_000 });
  const newer = SessionManager.create(directory, directory);
  newer.appendMessage({ ...user("about pears"), timestamp: 3_000 });
  newer.appendMessage({ ...assistant("pears"), timestamp: 4_000 });
  writeFileSync(join(directory, "other.jsonl"), "{}\n");
  expect(await SessionManager.list(directory, directory)).toMatchObject([
    { id: newer.getSessionId(), firstMessage: "about pears", messageCount: 2, modified: new Date(4_000) },
    { id: older.getSessionId(), allMessagesText: "about apples apples it is", cwd: directory },
  ]);
  expect(SessionManager.findById(directory, older.getSessionId(), directory)).toBe(older.getSessionFile());
  expect(SessionManager.continueRecent(directory, directory).getEntries()).toHaveLength(2);
});

test("what cannot be read is left out of a list of sessions", async () => {
  const session = SessionManager.create(directory, directory);
  session.appendMessage(user("hello"));
  session.appendMessage(assistant("hi"));
  const path = session.getSessionFile()!;
  mkdirSync(join(directory, "directory.jsonl"));
  symlinkSync("nowhere", join(directory, "dangling.jsonl"));
  writeFileSync(join(directory, "strange.jsonl"), `${JSON.stringify(session.getHeader())}\n{"type":"message"}\n`);
  utimesSync(join(directory, "strange.jsonl"), 1, 1);
  const infos = await SessionManager.list(directory, directory);
  expect(infos.map((info) => [info.path, info.messageCount])).toContainEqual([path, 2]);
  expect(infos).toHaveLength(2);
  expect(SessionManager.continueRecent(directory, directory).getSessionFile()).toBe(path);
});

test("a fork has all entries and names the file that it came from", () => {
  const source = SessionManager.create(directory, directory);
  source.appendMessage(user("hello"));
  source.appendMessage(assistant("hi"));
  const fork = SessionManager.forkFrom(source.getSessionFile()!, "/elsewhere", join(directory, "forks"));
  expect(fork.getCwd()).toBe("/elsewhere");
  expect(readLines(fork.getSessionFile()!)).toMatchObject([
    { cwd: "/elsewhere", parentSession: source.getSessionFile() },
    {},
    {},
  ]);
  expect(() => SessionManager.forkFrom(join(directory, "none"), "/elsewhere")).toThrow("is not a session file");
});
