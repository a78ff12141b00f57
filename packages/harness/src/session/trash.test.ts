import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type FileSystem, nodeFileSystem } from "@tau/tools";
import { withEveryFault } from "@tau/tools/testing";
import { expect, onTestFinished, test } from "vitest";
import { SessionManager } from "./session-manager.ts";
import { removeSession, restoreSession, trashSession } from "./trash.ts";

async function createWorkspace() {
  const root = await mkdtemp(join(tmpdir(), "tau-trash-"));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  const lookup = { cwd: root, agentDir: join(root, "agent"), directory: undefined };
  const createSession = async (content: string, { id, directory }: { id?: string; directory?: string } = {}) => {
    const session = await SessionManager.create(root, directory, {
      agentDir: lookup.agentDir,
      durability: "none",
      ...(id !== undefined && { id }),
    });
    await session.appendMessage({ role: "user", content, timestamp: 1 });
    await session.close();
    return { id: session.id, path: session.getSessionFile()! };
  };
  return { root, lookup, createSession };
}

const listFiles = async (path: string) =>
  (await readdir(dirname(path))).filter((name) => name.startsWith(basename(path))).toSorted();

const readFirstMessage = async (path: string) => {
  const session = await SessionManager.open(path, { access: "read" });
  const [entry] = await session.getEntries();
  await session.close();
  return entry?.type === "message" && entry.message.role === "user" ? entry.message.content : undefined;
};

const addResult = async (path: string, name: string) => {
  await mkdir(`${path}.results`, { recursive: true });
  await writeFile(join(`${path}.results`, name), name);
};

test("all files of a session move to the trash and back, except its lock", async () => {
  const { lookup, createSession } = await createWorkspace();
  const { id, path } = await createSession("One");
  await mkdir(`${path}.results`);
  await writeFile(join(`${path}.results`, "result-1.txt"), "long");
  const files = [basename(path), `${basename(path)}.results`];
  const trashed = await trashSession(path);
  expect(trashed).toEqual({ id, path: join(dirname(path), "trash", basename(path)) });
  expect([await listFiles(path), await listFiles(trashed.path)]).toEqual([[], files]);
  expect(await restoreSession(id, lookup)).toEqual({ id, path });
  expect([await listFiles(path), await listFiles(trashed.path)]).toEqual([files, []]);
  expect(await readFirstMessage(path)).toBe("One");
});

test("of a symbolic link, the session that it points to moves to the trash", async () => {
  const { root, createSession } = await createWorkspace();
  const { id, path } = await createSession("One");
  const link = join(root, "link.jsonl");
  await symlink(path, link);
  const trashed = await trashSession(link);
  expect([trashed.id, existsSync(path)]).toEqual([id, false]);
  expect(await readFirstMessage(trashed.path)).toBe("One");
});

test("a deleted session is found by its path, by its id and by the unique beginning of its id", async () => {
  const { root, lookup, createSession } = await createWorkspace();
  const directory = join(root, "elsewhere");
  const { path } = await createSession("One", { id: "same-1", directory });
  await createSession("Two", { id: "same-2", directory });
  const trashed = await trashSession(path);
  await expect(restoreSession("same-1", lookup)).rejects.toMatchObject({ code: "session_not_found" });
  for (const reference of [trashed.path, "elsewhere/trash/same-1.jsonl", "same-1", "same"]) {
    expect(await restoreSession(reference, { ...lookup, directory })).toEqual({ id: "same-1", path });
    await trashSession(path);
  }
  await trashSession(join(directory, "same-2.jsonl"));
  for (const reference of ["same", ""]) {
    await expect(restoreSession(reference, { ...lookup, directory })).rejects.toMatchObject({ code: "invalid_input" });
  }
});

test("restoring replaces no session, and deleting replaces an earlier deleted one as a whole", async () => {
  const { lookup, createSession } = await createWorkspace();
  const { path } = await createSession("First", { id: "job" });
  await mkdir(`${path}.results`);
  await writeFile(join(`${path}.results`, "result-1.txt"), "long");
  const { path: trashed } = await trashSession(path);
  await createSession("Second", { id: "job" });
  await expect(restoreSession("job", lookup)).rejects.toThrow(`tau sessions import ${trashed}`);
  expect(await readFirstMessage(path)).toBe("Second");
  await trashSession(path);
  expect(await listFiles(trashed)).toEqual(["job.jsonl"]);
  await restoreSession("job", lookup);
  expect(await readFirstMessage(path)).toBe("Second");
});

test("removing leaves nothing of a session, and removes no other file", async () => {
  const { root, createSession } = await createWorkspace();
  const { path } = await createSession("One");
  await writeFile(`${path}.torn-1`, "torn");
  await removeSession(path);
  expect(await listFiles(path)).toEqual([]);
  const file = join(root, "package.json");
  await writeFile(file, '{"name":"x","type":"module"}\n');
  for (const remove of [removeSession, trashSession]) {
    await expect(remove(file)).rejects.toThrow(`${file} is not a session file (`);
  }
  expect(await listFiles(file)).toEqual(["package.json"]);
});

test("a copy that a person made beside a session is neither moved nor removed with it", async () => {
  const { createSession } = await createWorkspace();
  const { path } = await createSession("One");
  const copies = [".bak", ".gz", ".old", ".orig"].map((ending) => basename(path) + ending);
  for (const copy of copies) await writeFile(join(dirname(path), copy), "copy");
  for (const suffix of ["idx", "torn-1-0a1b2c3d", `damaged-${randomUUID()}`, `idx.${randomUUID()}`, randomUUID()]) {
    await writeFile(`${path}.${suffix}`, suffix);
  }
  const trashed = await trashSession(path);
  expect(await listFiles(path)).toEqual(copies);
  expect(await listFiles(trashed.path)).toHaveLength(6);
  await writeFile(`${trashed.path}.bak`, "copy");
  await removeSession(trashed.path);
  expect(await listFiles(trashed.path)).toEqual([`${basename(path)}.bak`]);
});

test("a session that is being written is neither moved nor removed", async () => {
  const { lookup, createSession } = await createWorkspace();
  const { path } = await createSession("One");
  const writer = await SessionManager.open(path, { agentDir: lookup.agentDir });
  onTestFinished(() => writer.close());
  for (const remove of [removeSession, trashSession]) {
    await expect(remove(path)).rejects.toMatchObject({ code: "read_only" });
  }
  await writer.appendMessage({ role: "user", content: "Two", timestamp: 1 });
});

test("a session that is in use is not deleted, and the deleted one of the same name stays", async () => {
  const { root, createSession } = await createWorkspace();
  const directory = join(root, "elsewhere");
  const { path } = await createSession("One", { id: "same", directory });
  const trashed = await trashSession(path);
  await createSession("Two", { id: "same", directory });
  const writing = await SessionManager.open(path);
  await expect(trashSession(path)).rejects.toMatchObject({ code: "read_only" });
  await writing.close();
  expect(await readFirstMessage(trashed.path)).toBe("One");
  await trashSession(path);
  expect(await readFirstMessage(trashed.path)).toBe("Two");
});

test("what a killed process left in the trash does not keep a session from being deleted", async () => {
  const { createSession } = await createWorkspace();
  const { path } = await createSession("One", { id: "job" });
  const target = join(dirname(path), "trash", "job.jsonl");
  await addResult(target, "old.txt");
  await addResult(path, "new.txt");
  await trashSession(path);
  expect(await readdir(`${target}.results`)).toEqual(["new.txt"]);
});

test("a session that is begun while one of the same name is restored does not replace it, and is not replaced", async () => {
  const { root, lookup, createSession } = await createWorkspace();
  const { path } = await createSession("Old", { id: "job" });
  const trashed = await trashSession(path);
  const begun = await SessionManager.create(root, undefined, { agentDir: lookup.agentDir, id: "job" });
  const begin = () => begun.appendMessage({ role: "user", content: "New", timestamp: 1 });
  let refusal: unknown;
  const fs: FileSystem = {
    ...nodeFileSystem,
    async rename(from, to) {
      if (to === path) refusal = await begin().catch((error: unknown) => error);
      return await nodeFileSystem.rename(from, to);
    },
  };
  await restoreSession("job", lookup, fs);
  expect(refusal).toMatchObject({ code: "overtaken" });
  expect(await readFirstMessage(path)).toBe("Old");
  expect(existsSync(trashed.path)).toBe(false);
  await begun.close();
});

test("the lock is removed while it is held, so that it is never the lock of another process", async () => {
  const { createSession } = await createWorkspace();
  const { path } = await createSession("One");
  const holders: number[] = [];
  const fs: FileSystem = {
    ...nodeFileSystem,
    async unlink(file) {
      if (file.endsWith(".lock")) holders.push((JSON.parse(await readFile(file, "utf8")) as { pid: number }).pid);
      return await nodeFileSystem.unlink(file);
    },
  };
  await trashSession(path, fs);
  expect(holders).toEqual([process.pid, process.pid]);
});

test("a directory without permission does not keep other sessions from being restored", async () => {
  const { lookup, createSession } = await createWorkspace();
  const { id, path } = await createSession("One");
  await trashSession(path);
  const closed = join(lookup.agentDir, "sessions", "closed", "trash");
  await mkdir(closed, { recursive: true });
  const fs: FileSystem = {
    ...nodeFileSystem,
    readdir: (name) =>
      name === closed
        ? Promise.reject(Object.assign(new Error("EACCES"), { code: "EACCES" }))
        : nodeFileSystem.readdir(name),
  };
  expect(await restoreSession(id, lookup, fs)).toEqual({ id, path });
});

test("whichever call fails, the session is in one of both places, and the next attempt succeeds", async () => {
  const { lookup, createSession } = await createWorkspace();
  const { id, path } = await createSession("One");
  const target = join(dirname(path), "trash", basename(path));
  await addResult(path, "result-1.txt");
  const tried = await withEveryFault(nodeFileSystem, async (fs) => {
    const getPlaces = () => [path, target].filter((file) => existsSync(file));
    await trashSession(path, fs).catch(() => undefined);
    expect(getPlaces()).toHaveLength(1);
    if (existsSync(path)) await trashSession(path);
    await restoreSession(id, lookup, fs).catch(() => undefined);
    expect(getPlaces()).toHaveLength(1);
    if (existsSync(target)) await restoreSession(id, lookup);
    expect(await readFirstMessage(path)).toBe("One");
    expect(await readdir(`${path}.results`)).toEqual(["result-1.txt"]);
  });
  expect(tried).toBeGreaterThan(60);
});
