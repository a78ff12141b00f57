import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage } from "@tau/agent";
import { type FileSystem, nodeFileSystem } from "@tau/tools";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SessionManager } from "../src/session/session-manager.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tau-sessions-"));
});
afterEach(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));

const user = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const getTexts = async (session: SessionManager) =>
  (await session.buildContext()).messages.map((message) => JSON.stringify(message).match(/"text":"([^"]*)"/)?.[1]);

const storages = {
  "in a file": () => SessionManager.create("/project", directory),
  "in memory": () => SessionManager.inMemory("/project"),
};

describe.each(Object.entries(storages))("a session %s", (_name, create) => {
  test("keeps the appended entries, each a child of the one before", async () => {
    const session = await create();
    const ids = [await session.appendMessage(user("a")), await session.appendMessage(user("b"))];
    await session.appendThinkingLevelChange("high");
    const branch = await session.getBranch();
    expect(branch.map(({ parentId }) => parentId)).toEqual([null, ...ids]);
    expect(ids.every((id) => /^[0-9a-f]{8}$/.test(id))).toBe(true);
    expect(await getTexts(session)).toEqual(["a", "b"]);
    expect((await session.buildContext()).thinkingLevel).toBe("high");
    const listLast = async (limit?: number) => (await session.getEntries(limit)).map(({ id }) => id);
    expect((await listLast()).slice(0, 2)).toEqual(ids);
    expect(await listLast(2)).toEqual((await listLast()).slice(1));
    expect(await listLast(0)).toEqual([]);
    await session.close();
  });

  test("counts all entries, however many there are", async () => {
    const session = await create();
    for (let index = 0; index < 1_001; index++) await session.appendMessage(user(String(index)));
    expect((await session.getTotals()).messages.user).toBe(1_001);
    await session.close();
  });

  test("shares ancestors between branches", async () => {
    const session = await create();
    const first = await session.appendMessage(user("a"));
    await session.appendMessage(user("b"));
    await session.navigate(first);
    expect(session.getLeafId()).toBe(first);
    await session.appendMessage(user("c"));
    expect(await getTexts(session)).toEqual(["a", "c"]);
    const [root] = await session.getTree();
    expect(root!.children.filter(({ entry }) => entry.type === "message")).toHaveLength(2);
    await session.close();
  });

  test("branches into a new session", async () => {
    const session = await create();
    const first = await session.appendMessage(user("a"));
    const second = await session.appendMessage(user("b"));
    await session.appendLabelChange(first, "start");
    const branch = await session.branchSession(session.id, first);
    expect(branch).toMatchObject({ parentId: session.id, branchPoint: first });
    expect(await getTexts(branch)).toEqual(["a"]);
    expect(await branch.getLabel(first)).toBe("start");
    expect(await branch.getEntry(second)).toBeUndefined();
    await branch.close();
    const again = await session.loadSession(branch.id);
    expect(await getTexts(again)).toEqual(["a"]);
    await expect(session.loadSession("unknown")).rejects.toThrow("There is no session");
    await again.close();
    await session.close();
  });
});

test("a loaded session has what the model is sent and all that was said, with the ids that it can be branched at", async () => {
  const session = await SessionManager.inMemory();
  const first = await session.appendMessage({ role: "user", content: "a", timestamp: 1 });
  const second = await session.appendMessage({ role: "user", content: "b", timestamp: 2 });
  await session.appendCompaction("summary", second, 100);
  await session.appendMessage({ role: "user", content: "c", timestamp: 3 });
  const parent = await session.loadSession(session.id);
  expect(parent.messages).toMatchObject([
    { role: "compactionSummary" },
    { content: "b", id: second },
    { content: "c" },
  ]);
  expect(parent.transcript).toMatchObject([
    { content: "a", id: first },
    { content: "b", id: second },
    { content: "c" },
  ]);

  const point = parent.messages.find(({ id }) => id === second)!;
  const initialMessages = parent.transcript.filter(({ timestamp }) => timestamp <= point.timestamp);
  const branch = await session.createSession({ parentId: parent.id, branchPoint: second, initialMessages });
  expect(branch).toMatchObject({ parentId: session.id, branchPoint: second });
  expect((await branch.buildContext()).messages).toEqual([
    { role: "user", content: "a", timestamp: 1 },
    { role: "user", content: "b", timestamp: 2 },
  ]);
  for (const each of [branch, parent, session]) await each.close();
});

test("a session that was never used leaves no files", async () => {
  const session = await SessionManager.create("/project", join(directory, "deep"));
  await session.close();
  expect(await readdir(directory)).toEqual([]);
});

test("a session continues from its last leaf, also after navigation", async () => {
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

test("a second process may read, and learns which process writes", async () => {
  const session = await SessionManager.create("/project", directory);
  await session.appendMessage(user("a"));
  const second = await SessionManager.open(session.getSessionFile()!);
  expect(second.readOnly).toMatchObject({ reason: "held", holder: { name: "another part of this program" } });
  await expect(second.appendMessage(user("b"))).rejects.toThrow("written by another part of this program");
  await session.close();
  await second.close();
  const third = await SessionManager.open(session.getSessionFile()!);
  await third.appendMessage(user("c"));
  expect(await getTexts(third)).toEqual(["a", "c"]);
  await third.close();
});

test("an unknown id is not continued, unless it may be created", async () => {
  const unknown = SessionManager.continueById("/project", "jbo", directory);
  await expect(unknown).rejects.toMatchObject({ code: "session_not_found", message: expect.stringContaining('"jbo"') });
  await expect(SessionManager.continueById("/project", "../up", directory)).rejects.toMatchObject({
    code: "invalid_input",
  });
  const created = await SessionManager.continueById("/project", "job", directory, { creates: true });
  await created.appendMessage(user("a"));
  await created.close();
  const continued = await SessionManager.continueById("/project", "job", directory);
  expect(await getTexts(continued)).toEqual(["a"]);
  await continued.close();
});

test("of two processes that begin one chosen id, only the one with the lease writes", async () => {
  const first = await SessionManager.continueById("/project", "job", directory, { creates: true });
  let looks = 0;
  const { statNow: _statNow, ...rest } = nodeFileSystem;
  const fileSystem: FileSystem = {
    ...rest,
    // The first process writes right after the second has seen that there is no file.
    async stat(path) {
      const stats = await nodeFileSystem.stat(path).catch((error: unknown) => error as Error);
      if (path.endsWith("job.jsonl") && ++looks === 1) await first.appendMessage(user("a"));
      if (stats instanceof Error) throw stats;
      return stats;
    },
  };
  const second = await SessionManager.continueById("/project", "job", directory, { fileSystem, creates: true });
  expect(second.getEntryCount()).toBe(1);
  await expect(second.appendMessage(user("b"))).rejects.toThrow("another part of this program writes it");
  await first.appendMessage(user("c"));
  expect(await getTexts(first)).toEqual(["a", "c"]);
  await second.close();
  await first.close();
});

test("where it cannot be told whether the writing process still runs, a person is told what to do", async () => {
  const session = await SessionManager.create("/project", directory);
  await session.appendMessage(user("a"));
  const path = session.getSessionFile()!;
  await session.close();
  // One of us knows the boot of its machine and the other does not, as in some containers.
  const bootId = existsSync("/proc/sys/kernel/random/boot_id") ? "" : "another";
  const holder = { pid: 1, startTime: "", bootId, id: "x", generation: 7 };
  await writeFile(`${path}.lock`, JSON.stringify(holder));
  const second = await SessionManager.open(path);
  await expect(second.appendMessage(user("b"))).rejects.toThrow(
    /cannot be written here\. .*process 1 of another container.* remove \S+\.lock and \S+\. Otherwise fork/,
  );
  await second.close();
  await rm(`${path}.lock`);
  const third = await SessionManager.open(path);
  expect(third.readOnly).toBeUndefined();
  await third.close();
});

test("the file has the format of pi: a header, then lines with ids, and only its owner may read it", async () => {
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

test("unknown entries and fields are kept, and a file of another program can be appended to", async () => {
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

test("a session of version 1 can be read, and is upgraded when it is opened for writing, with the old file kept", async () => {
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

test("a call that a crash interrupted has an unknown outcome, and one that was not started was not run", async () => {
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

test("a file of version 1 whose header is fused with its first entry is upgraded once", async () => {
  const header = '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/x"}';
  const entries = ["a", "b"].map((text) =>
    JSON.stringify({ type: "message", timestamp: "2025-01-01T00:00:01.000Z", message: user(text) }),
  );
  const path = join(directory, "fused", "2025-01-01T00-00-00-000Z_fused.jsonl");
  await mkdir(join(directory, "fused"));
  await writeFile(path, `${header}${entries[0]}\n${entries[1]}\n`);
  const session = await SessionManager.open(path);
  expect(await getTexts(session)).toEqual(["a", "b"]);
  await session.appendMessage(user("c"));
  await session.close();
  const again = await SessionManager.open(path);
  expect(await getTexts(again)).toEqual(["a", "b", "c"]);
  await again.close();
  expect((await readdir(join(directory, "fused"))).filter((file) => file.includes(".old-"))).toHaveLength(1);
});

test.for([
  '{"name":"x","type":"module"}',
  '{"type":"event","id":"1"}',
  '{"type":"message","id":"1","text":"a chat"}',
  '{"type":"session"}',
  '{"type":"message","message":{"role":"user","content":"of version 1, without its header"}}',
])("a file of another program is neither written, upgraded nor forked: %s", async (line) => {
  const path = join(directory, "foreign", "package.json");
  await mkdir(join(directory, "foreign"), { recursive: true });
  await writeFile(path, `${line}\n`);
  const session = await SessionManager.open(path);
  expect(session.problems[0]?.kind).toBe("no_session");
  await expect(session.appendMessage(user("c"))).rejects.toMatchObject({ code: "read_only" });
  await session.close();
  await expect(SessionManager.forkFrom(path, directory)).rejects.toMatchObject({ code: "invalid_input" });
  expect(await readFile(path, "utf8")).toBe(`${line}\n`);
  expect((await readdir(join(directory, "foreign"))).filter((name) => name.includes(".old-"))).toEqual([]);
});

test.for(["../../../escaped", "/tmp/escaped", "a\0b", "..", "x".repeat(300), "a/b", "a\\b"])(
  "an id in a header that could lead elsewhere is replaced by the one in the file name: %j",
  async (id) => {
    const path = join(directory, "2026-01-01T00-00-00-000Z_plain-name.jsonl");
    const first = { type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: directory };
    const message = { type: "message", id: "00000001", parentId: null, timestamp: first.timestamp, message: user("a") };
    await writeFile(path, `${JSON.stringify(first)}\n${JSON.stringify(message)}\n`);
    const session = await SessionManager.open(path);
    expect([session.id, session.getHeader().id]).toEqual(["plain-name", "plain-name"]);
    await session.close();
    expect((await SessionManager.list(directory, directory)).map((info) => info.id)).toContain("plain-name");
    await rm(path);
  },
);

test("ids of any kind become eight hex digits, even if they begin with the time or repeat", async () => {
  let count = 0;
  for (const ids of [
    () => `id-${++count}`,
    () => "same",
    () => `0199f0aa-1111-7222-8333-${String(++count).padStart(12, "0")}`,
  ]) {
    const session = await SessionManager.inMemory("/x", { ids });
    const appendedIds = [await session.appendMessage(user("a")), await session.appendMessage(user("b"))];
    expect(new Set(appendedIds).size).toBe(2);
    expect(appendedIds.every((id) => /^[0-9a-f]{8}$/.test(id))).toBe(true);
  }
});

describe("a call that was started", () => {
  const crashed = async () => {
    const session = await SessionManager.inMemory();
    await session.appendMessage(user("go"));
    const call = { type: "toolCall", id: "1", name: "bash", arguments: {} };
    const answer = await session.appendMessage({
      role: "assistant",
      content: [call, null],
      stopReason: "toolUse",
    } as unknown as AgentMessage);
    await session.appendCallStarted("1", "bash");
    return { session, answer };
  };

  test("stays started after navigating to its answer, or branching there", async () => {
    const { session, answer } = await crashed();
    await session.navigate(answer);
    expect(await session.unfinishedCalls()).toMatchObject([{ hasStarted: true }]);
    const branch = await session.branchSession(session.id, answer);
    expect(await branch.unfinishedCalls()).toMatchObject([{ hasStarted: true }]);
  });

  test("is forgotten with its answer when a compaction takes its place", async () => {
    const { session, answer } = await crashed();
    await session.appendCompaction("kept", answer, 1_000);
    expect(await session.unfinishedCalls()).toMatchObject([{ hasStarted: true }]);
    await session.appendCompaction("all", null, 1_000);
    expect(await session.unfinishedCalls()).toEqual([]);
  });

  test("gets one result, however often it is settled", async () => {
    const { session } = await crashed();
    await Promise.all([session.settleUnfinishedCalls(), session.settleUnfinishedCalls()]);
    expect((await session.buildContext()).messages.filter(({ role }) => role === "toolResult")).toHaveLength(1);
  });
});

test("calls without waiting are executed in order", async () => {
  const session = await SessionManager.inMemory();
  const first = await session.appendMessage(user("a"));
  await session.appendMessage(user("b"));
  await Promise.all([session.navigate(first), session.appendMessage(user("c")), session.appendLabelChange(first, "x")]);
  expect(await getTexts(session)).toEqual(["a", "c"]);
});

test("the session sets the id and the parent of an entry, whatever the entry has", async () => {
  const session = await SessionManager.inMemory();
  const first = await session.appendMessage(user("a"));
  const foreign = { type: "message", id: "ffffffff", parentId: "eeeeeeee", timestamp: "long ago", message: user("b") };
  const second = await session.append(foreign as unknown as Parameters<typeof session.append>[0]);
  expect(await session.getEntry(second)).toMatchObject({ id: second, parentId: first });
  expect(second).not.toBe("ffffffff");
  await expect(session.append({ type: "session" } as never)).rejects.toThrow("cannot be appended");
  await expect(session.navigate(undefined as never)).rejects.toThrow("has no entry");
  expect(await session.getEntry(undefined as never)).toBeUndefined();
});

test("invalid lines cost only their own entries", async () => {
  const path = join(directory, "2026-01-01T00-00-00-000Z_odd.jsonl");
  const time = '"timestamp":"2026-01-01T00:00:00.000Z"';
  const lines = [
    `{"type":"session","version":3,"id":"odd",${time},"cwd":"/x"}`,
    `{"type":"message","id":"00000001","parentId":null,${time},"message":{"role":"user"}}`,
    `{"type":"message","id":"00000002","parentId":"00000001",${time},"message":{"role":"user","content":"kept"}}`,
    `{"type":"context_edit","id":"00000003","parentId":"00000002",${time},"targetId":"00000002"}`,
    `{"type":"session_info","id":"00000004","parentId":"00000003",${time},"name":5}`,
    `{"type":"compaction","id":"00000005","parentId":"00000004",${time},"summary":"s","tokensBefore":1}`,
    `{"type":"message","id":"00000006","parentId":"00000005",${time},"message":{"role":"assistant","content":"text"}}`,
  ];
  await writeFile(path, `${lines.join("\n")}\n`);
  const session = await SessionManager.open(path);
  expect((await session.buildContext()).messages.map(({ role }) => role)).toEqual(["compactionSummary", "assistant"]);
  expect((await session.buildContext("00000003")).messages).toMatchObject([{ content: [] }, { content: "kept" }]);
  expect(await session.unfinishedCalls()).toEqual([]);
  expect(await session.getSessionName()).toBeUndefined();
  await session.close();
  expect(await SessionManager.list("/x", directory)).toMatchObject([{ id: "odd", firstMessage: "", messageCount: 3 }]);
});

test("copies and exports are connected even if a line in the middle is lost", async () => {
  const session = await SessionManager.create("/project", directory);
  const path = session.getSessionFile()!;
  for (const text of ["a", "b", "c"]) await session.appendMessage(user(text));
  await session.close();
  const bytes = (await readFile(path, "utf8")).split("\n");
  bytes[2] = bytes[2]!.slice(0, -20);
  await writeFile(path, bytes.join("\n"));
  const damaged = await SessionManager.open(path, { access: "read" });
  const { entries, leafId } = await damaged.exportSource();
  expect(entries.map(({ parentId }) => parentId)).toEqual([null, entries[0]!.id]);
  expect(leafId).toBe(entries[1]!.id);
  const fork = await SessionManager.forkFrom(path, "/other", join(directory, "forks"));
  expect(await getTexts(fork)).toEqual(["a", "c"]);
  expect(fork.problems).toEqual([]);
  await fork.close();
  await damaged.close();
});

test("`saveAs` writes only to a new file, and only all entries", async () => {
  const session = await SessionManager.create("/project", directory);
  await session.appendMessage(user("a"));
  const precious = join(directory, "precious.txt");
  await writeFile(precious, "mine");
  await expect(session.saveAs(precious)).rejects.toThrow("exists already");
  await session.saveAs(join(directory, "copy.jsonl"));
  await writeFile(session.getSessionFile()!, "");
  await expect(session.saveAs(join(directory, "empty.jsonl"))).rejects.toMatchObject({ code: "overtaken" });
  await session.close();
  const copy = await SessionManager.open(join(directory, "copy.jsonl"));
  expect(await getTexts(copy)).toEqual(["a"]);
  await copy.close();
});

test("a session is found by its real path, and by its id after a renaming; an id is used once", async () => {
  const session = await SessionManager.create("/project", directory, { id: "mine" });
  await session.appendMessage(user("a"));
  const link = join(directory, "link");
  await symlink(session.getSessionFile()!, link);
  const second = await SessionManager.open(link);
  expect(second.readOnly).toMatchObject({ reason: "held" });
  await second.close();
  await expect(session.createSession({ id: "mine" })).rejects.toThrow("already");
  await session.close();
  await rename(session.getSessionFile()!, join(directory, "renamed.jsonl"));
  expect(await SessionManager.findById("/project", "mine", directory)).toBe(join(directory, "renamed.jsonl"));
});

test("`continueRecent` opens a session of the directory, and no other file", async () => {
  const other = await SessionManager.create("/other", directory);
  await other.appendMessage(user("other"));
  await other.close();
  await mkdir(join(directory, "directory.jsonl"));
  await symlink(join(directory, "nowhere"), join(directory, "dangling.jsonl"));
  const binary = join(directory, "binary.jsonl");
  await writeFile(binary, Buffer.alloc(3_000, 7));
  const session = await SessionManager.continueRecent("/project", directory);
  expect(session.getEntryCount()).toBe(0);
  await session.close();
  expect(await readFile(binary)).toEqual(Buffer.alloc(3_000, 7));
});

test("a deep directory has its own session directory", async () => {
  const agentDir = join(directory, "agent");
  const deep = (end: string) => `/${"very-long-name/".repeat(30)}${end}`;
  const session = await SessionManager.create(deep("a"), undefined, { agentDir });
  await session.appendMessage(user("a"));
  await session.close();
  expect(await SessionManager.list(deep("a"), undefined, { agentDir })).toHaveLength(1);
  expect(await SessionManager.list(deep("b"), undefined, { agentDir })).toEqual([]);
});
