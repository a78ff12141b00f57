import { execFileSync } from "node:child_process";
import { appendFile, mkdir, mkdtemp, rm, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage } from "@tau/agent";
import { type FileSystem, nodeFileSystem } from "@tau/tools";
import { faultyFileSystem } from "@tau/tools/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sessionDirectory } from "../src/session/session-directory.ts";
import { SessionManager } from "../src/session/session-manager.ts";

let agentDir: string;
beforeEach(async () => {
  agentDir = await mkdtemp(join(tmpdir(), "tau-list-"));
});
afterEach(() => rm(agentDir, { recursive: true, force: true, maxRetries: 10 }));

const user = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const make = async (cwd: string, text: string, name?: string) => {
  const session = await SessionManager.create(cwd, undefined, { agentDir });
  await session.appendMessage(user(text));
  if (name) await session.appendSessionInfo(name);
  await session.close();
  return session;
};

test("a list describes each session, and the last used comes first", async () => {
  const first = await make("/a", "What is\n  this?", "Named");
  const second = await make("/a", "And that?");
  await make("/b", "Elsewhere");
  const again = await SessionManager.open(first.getSessionFile()!);
  await again.appendMessage(user("more"));
  await again.close();
  expect(await SessionManager.list("/a", undefined, { agentDir })).toMatchObject([
    { id: first.id, name: "Named", firstMessage: "What is this?", messageCount: 2, cwd: "/a", parentId: null },
    { id: second.id, firstMessage: "And that?", messageCount: 1 },
  ]);
  expect(await SessionManager.listAll({ agentDir })).toHaveLength(3);
  expect(await SessionManager.findById("/a", second.id, undefined, { agentDir })).toBe(second.getSessionFile());
  expect(await SessionManager.findById("/a", "unknown", undefined, { agentDir })).toBeUndefined();
});

test("the second list opens only changed sessions, and a damaged catalogue is written again", async () => {
  const sessions = [await make("/a", "one"), await make("/a", "two"), await make("/a", "three")];
  const list = async () => {
    const fileSystem = faultyFileSystem(nodeFileSystem);
    const listed = await SessionManager.list("/a", undefined, { agentDir, fileSystem });
    return { listed, opened: fileSystem.calls.filter((call) => call === "open").length };
  };
  const first = await list();
  const second = await list();
  expect(second.listed).toEqual(first.listed);
  // Each session once, and the catalogue: to read it, to write it, and its directory.
  expect(first.opened).toBe(sessions.length + 3);
  // The catalogue alone.
  expect(second.opened).toBe(1);
  await appendFile(sessions[0]!.getSessionFile()!, "\n");
  expect((await list()).opened).toBeLessThan(first.opened);
  await unlink(sessions[1]!.getSessionFile()!);
  expect((await list()).listed).toHaveLength(2);
  for (const damage of [
    "",
    "{",
    "null",
    '{"format":"tau sessions 1","sessions":[[1]]}',
    '{"format":"another","sessions":[]}',
  ]) {
    await writeFile(join(sessionDirectory("/a", agentDir), "catalogue.json"), damage);
    expect((await list()).listed).toHaveLength(2);
  }
});

test("files that are not sessions, or cannot be read, do not hide the others", async () => {
  await make("/a", "one");
  const directory = sessionDirectory("/a", agentDir);
  await writeFile(join(directory, "empty.jsonl"), "");
  await writeFile(join(directory, "noise.jsonl"), "\0\xff not json\n".repeat(3));
  await mkdir(join(directory, "directory.jsonl"));
  const listed = await SessionManager.list("/a", undefined, { agentDir });
  expect(listed).toMatchObject([{ firstMessage: "one" }]);
  expect(await SessionManager.list("/nowhere", undefined, { agentDir })).toEqual([]);
  await writeFile(join(agentDir, "sessions", "stray"), "");
  expect(await SessionManager.listAll({ agentDir })).toHaveLength(1);
});

test("a session that could not be read once is listed by its name, not taken for missing, and described again when it can be read", async () => {
  const session = await make("/a", "precious");
  const path = session.getSessionFile()!;
  const refuse = () => Promise.reject(Object.assign(new Error("too many open files"), { code: "EMFILE" }));
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    open: (name, flags, mode) => (name === path ? refuse() : nodeFileSystem.open(name, flags, mode)),
  };
  for (let time = 0; time < 2; time++) {
    expect(await SessionManager.list("/a", undefined, { agentDir, fileSystem })).toMatchObject([
      { id: session.id, path, messageCount: 0 },
    ]);
  }
  await expect(SessionManager.continueRecent("/a", undefined, { agentDir, fileSystem })).rejects.toThrow("too many");
  expect(await SessionManager.list("/a", undefined, { agentDir })).toMatchObject([{ firstMessage: "precious" }]);
  const continued = await SessionManager.continueRecent("/a", undefined, { agentDir });
  await continued.close();
  expect(continued.id).toBe(session.id);
});

test("a list tells that a crash has cut the last run, also if an extension wrote something afterwards", async () => {
  const session = await SessionManager.create("/a", undefined, { agentDir });
  await session.appendMessage(user("begin"));
  await session.closeCutRun({ terminationReason: "gateway_disconnected" });
  await session.appendCustomEntry("of-an-extension", {});
  await session.close();
  expect(await SessionManager.list("/a", undefined, { agentDir })).toMatchObject([{ ending: "cut" }]);
});

test("a long session, which is read in parts, is described like a short one", async () => {
  const session = await SessionManager.create("/a", undefined, { agentDir });
  await session.appendMessage(user("first"));
  for (let turn = 0; turn < 20; turn++) await session.appendMessage(user("long ".repeat(1_000)));
  await session.appendSessionInfo("Named last");
  await session.close();
  await rm(`${session.getSessionFile()!}.idx`, { force: true });
  expect(await SessionManager.list("/a", undefined, { agentDir })).toMatchObject([
    { id: session.id, name: "Named last", firstMessage: "first", messageCount: 21 },
  ]);
});

test("a long list reports its progress and can be aborted", async () => {
  const directory = sessionDirectory("/a", agentDir);
  await mkdir(directory, { recursive: true });
  const line = '{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/a"}\n';
  for (let index = 0; index < 250; index++) await writeFile(join(directory, `${index}.jsonl`), line);
  const progress: number[] = [];
  const controller = new AbortController();
  const options = { agentDir, onProgress: (loaded: number) => progress.push(loaded), signal: controller.signal };
  expect(await SessionManager.list("/a", undefined, options)).toHaveLength(250);
  expect(progress).toEqual([100, 200]);
  controller.abort(new Error("enough"));
  await expect(SessionManager.list("/a", undefined, options)).rejects.toThrow("enough");
});

test("pages of the last used sessions are those of the whole list, and open only their own files", async () => {
  const count = 11;
  const sessions = [];
  for (let index = 0; index < count; index++) sessions.push(await make(index % 3 === 0 ? "/b" : "/a", `talk ${index}`));
  // Some of the same age, in an order that is not that of their names.
  for (const [index, session] of sessions.entries()) {
    const time = 1_000_000 + Math.floor(((index * 7) % count) / 2);
    await utimes(session.getSessionFile()!, time, time);
  }
  const noSession = join(sessionDirectory("/a", agentDir), "other.jsonl");
  await writeFile(noSession, "no session\n");
  await utimes(noSession, 1_000_004, 1_000_004);
  const readPages = async (sessionDir: string | undefined) => {
    const ids: string[] = [];
    for (;;) {
      const fileSystem = faultyFileSystem(nodeFileSystem);
      const after = ids.at(-1);
      const page = await SessionManager.listLastUsed({
        agentDir,
        fileSystem,
        limit: 2,
        ...(sessionDir !== undefined && { sessionDir }),
        ...(after !== undefined && { after }),
      });
      if (!page) return ids;
      expect(page).toHaveLength(2);
      // Each session has up to three files, and one page has to skip the file that is no session.
      expect(fileSystem.calls.filter((call) => call === "open").length).toBeLessThanOrEqual(3 * 3);
      ids.push(...page.map(({ id }) => id));
    }
  };
  const getIds = (list: { id: string }[]) => list.map(({ id }) => id);
  const all = getIds(await SessionManager.listAll({ agentDir }));
  const pages = await readPages(undefined);
  expect(pages.length).toBeGreaterThanOrEqual(count - 3);
  expect(pages).toEqual(all.slice(0, pages.length));
  const directory = sessionDirectory("/a", agentDir);
  const own = getIds(await SessionManager.list("/a", undefined, { agentDir }));
  const ownPages = await readPages(directory);
  expect(ownPages.length).toBeGreaterThanOrEqual(own.length - 3);
  expect(ownPages).toEqual(own.slice(0, ownPages.length));
  expect(await SessionManager.listLastUsed({ agentDir, sessionDir: directory, limit: 2, after: "unknown" })).toBe(
    undefined,
  );
  expect(await SessionManager.listLastUsed({ agentDir, sessionDir: directory, limit: 100 })).toBe(undefined);
});

test("a pipe among the sessions is neither listed nor opened", async () => {
  const { id } = await make("/a", "Hello.");
  const pipe = join(sessionDirectory("/a", agentDir), "2099-01-01T00-00-00-000Z_pipe.jsonl");
  execFileSync("mkfifo", [pipe]);
  expect(await SessionManager.list("/a", undefined, { agentDir })).toMatchObject([{ id }]);
  const recent = await SessionManager.continueRecent("/a", undefined, { agentDir });
  expect(recent.id).toBe(id);
  await recent.close();
  await expect(SessionManager.open(pipe)).rejects.toThrow("is not a regular file");
});

test("a name is one short line, whoever wrote it, so that a list stays small", async () => {
  const { id } = await make("/long", "first");
  const session = await SessionManager.continueById("/long", id, undefined, { agentDir });
  await session.appendSessionInfo(`Notes\n\tof ${"many ".repeat(1_000)}days`);
  expect(await session.getSessionName()).toMatch(/^Notes of many .*…$/);
  await session.append({ type: "session_info", name: `written elsewhere ${"x".repeat(1_000_000)}` });
  await session.close();
  const [listed] = await SessionManager.list("/long", undefined, { agentDir });
  expect(listed?.name).toHaveLength(201);
});
