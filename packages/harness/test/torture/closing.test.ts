/** Closing a session: no acknowledged entry is lost, no file stays open, and later calls are refused. */
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { nodeFileSystem } from "@tau/tools/platform";
import { describe, expect, test } from "vitest";
import type { SessionEntry } from "../../src/session/entry.ts";
import { createFileStore } from "@tau/tools/storage";
import { SessionLog } from "../../src/session/log.ts";
import { createMemoryStore } from "@tau/tools/storage";
import { recover } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { LogStore } from "@tau/tools/storage";
import { interceptCalls, entry, header, idsIn, createLog, patience, quickScratch, systemError, user } from "./kit.ts";

const closed = { code: "closed", message: expect.stringContaining("is closed") };

/** A file system that counts open files. */
function counted() {
  const count = { open: 0 };
  const fileSystem = interceptCalls(nodeFileSystem, async (call, _args, proceed) => {
    const result = await proceed();
    if (call === "open") count.open++;
    if (call === "handle.close") count.open--;
    return result;
  });
  return { count, fileSystem };
}

const newPath = () => join(quickScratch(), "2026-01-01T00-00-00-000Z_closing.jsonl");

describe.each(["strict", "turn", "none"] as const)("in %s, a log", (durability) => {
  test("may be closed twice, and refuses all other calls", async () => {
    for (const store of [createFileStore({ path: newPath() }), createMemoryStore()]) {
      const log = await SessionLog.open({ store, durability });
      await log.append([header(), entry(1)]);
      await Promise.all([log.close(), log.close()]);
      await log.close();
      await expect(log.flush()).rejects.toMatchObject(closed);
      await expect(log.append([entry(2)])).rejects.toMatchObject(closed);
      await expect(log.read([0])).rejects.toMatchObject(closed);
      await expect(log.header()).rejects.toMatchObject(closed);
      await expect(log.bytes()).rejects.toMatchObject(closed);
    }
  });

  test("ends a long read when it is closed", async () => {
    const memory = createMemoryStore();
    let close: (() => void) | undefined;
    const store: LogStore = {
      ...memory,
      read: (...args) => {
        close?.();
        return memory.read(...args);
      },
    };
    const log = await SessionLog.open({ store, durability });
    // Each is a piece of the log that is read alone.
    const message = user("a".repeat(1024 * 1024));
    await log.append([header(), ...[1, 2, 3].map((number) => ({ ...entry(number), message }) as SessionEntry)]);
    close = () => void log.close();
    await expect(log.read([0, 1, 2])).rejects.toMatchObject(closed);
  });

  test("keeps what was appended before `close`, and refuses what is appended after it", async () => {
    const { count, fileSystem } = counted();
    const path = newPath();
    const log = await SessionLog.open({ store: createFileStore({ path, fileSystem }), durability });
    const before = [log.append([header(), entry(1)]), log.append([entry(2)]), log.append([entry(3)])];
    const closing = log.close();
    await expect(log.append([entry(4)])).rejects.toMatchObject(closed);
    await Promise.all([...before, closing]);
    expect(count.open).toBe(0);
    const bytes = readFileSync(path);
    expect(idsIn(bytes, recover(bytes))).toEqual([1, 2, 3].map((number) => entry(number).id));
    const next = await SessionLog.open({ store: createFileStore({ path }) });
    expect(next.readOnly).toBeUndefined();
    await next.close();
  });

  test("that was never written leaves no files, even after a late append", async () => {
    const path = newPath();
    const log = await SessionLog.open({ store: createFileStore({ path }), durability });
    const closing = log.close();
    await expect(log.append([header(), entry(1)])).rejects.toMatchObject(closed);
    await closing;
    await expect(log.append([header(), entry(1)])).rejects.toMatchObject(closed);
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });
});

describe("a store that is closed", () => {
  test("during a write waits for it, and then releases everything", async () => {
    const { count, fileSystem } = counted();
    const path = newPath();
    const store = createFileStore({ path, fileSystem });
    const append = store.append(createLog(1), { position: 0, sync: true });
    await store.close();
    expect((await append).kind).toBe("appended");
    expect(count.open).toBe(0);
    const next = createFileStore({ path });
    expect((await next.acquire()).kind).toBe("held");
    await next.close();
  });

  test("during concurrent reads leaves no file open", async () => {
    const { count, fileSystem } = counted();
    const path = newPath();
    const first = createFileStore({ path });
    await first.append(createLog(1), { position: 0, sync: true });
    await first.close();
    const store = createFileStore({ path, fileSystem });
    const reads = [store.read(0, 10), store.read(5, 10), store.read(0, 1)];
    await store.close();
    expect((await Promise.all(reads)).map(({ length }) => length)).toEqual([10, 10, 1]);
    await expect(store.read(0, 1)).rejects.toMatchObject(closed);
    expect(count.open).toBe(0);
  });
});

describe("a lease that cannot be released", () => {
  for (const code of ["ENOSPC", "EIO"]) {
    test(`because of ${code} is removed: closing succeeds and the next process may write`, async () => {
      let isFull = false;
      const { count, fileSystem: below } = counted();
      const fileSystem = interceptCalls(below, async (call, args, proceed) => {
        if (isFull && (call === "handle.write" || call === "rename" || (call === "open" && Number(args[1]) !== 0)))
          throw systemError(code);
        return await proceed();
      });
      const path = newPath();
      const log = await SessionLog.open({ store: createFileStore({ path, fileSystem }) });
      await log.append([header(), entry(1)]);
      isFull = true;
      await log.close();
      expect(count.open).toBe(0);
      isFull = false;
      const next = await SessionLog.open({ store: createFileStore({ path, fileSystem }) });
      expect(next.readOnly).toBeUndefined();
      await next.append([entry(2)]);
      await next.close();
    });
  }

  test("nor removed does not prevent closing", async () => {
    let isGone = false;
    const { count, fileSystem: below } = counted();
    const fileSystem = interceptCalls(below, async (call, _args, proceed) => {
      if (isGone && call !== "handle.close") throw systemError("EIO");
      return await proceed();
    });
    const store = createFileStore({ path: newPath(), fileSystem });
    await store.append(createLog(1), { position: 0, sync: true });
    isGone = true;
    await store.close();
    expect(count.open).toBe(0);
  });
});

test("`close` reports a lost entry if no other call has reported it", async () => {
  const path = newPath();
  const store = createFileStore({ path });
  const log = await SessionLog.open({ store, durability: "none" });
  await log.append([header(), entry(1)]);
  await log.flush();
  rmSync(path);
  await log.append([entry(2)]);
  await expect(log.close()).rejects.toMatchObject({ code: "overtaken" });
  await expect(log.close()).rejects.toMatchObject({ code: "overtaken" });
});

test("an overtaken log is read-only", async () => {
  const path = newPath();
  const log = await SessionLog.open({ store: createFileStore({ path }) });
  await log.append([header(), entry(1)]);
  expect(log.readOnly).toBeUndefined();
  rmSync(path);
  await expect(log.append([entry(2)])).rejects.toMatchObject({ code: "overtaken" });
  expect(log.readOnly).toMatchObject({ reason: "overtaken", message: expect.stringContaining("removed") });
  await expect(log.append([entry(3)])).rejects.toMatchObject({ code: "overtaken" });
  await log.close();
});

test("a log whose disk refused to sync is read-only", async () => {
  const fileSystem = interceptCalls(nodeFileSystem, async (call, _args, proceed) => {
    if (call === "handle.datasync") throw systemError("EIO");
    return await proceed();
  });
  const log = await SessionLog.open({ store: createFileStore({ path: newPath(), fileSystem }), durability: "turn" });
  await log.append([header(), entry(1)]);
  await expect(log.flush()).rejects.toMatchObject({ code: "write_failed" });
  expect(log.readOnly).toMatchObject({ reason: "failed", message: expect.stringContaining("disk refused") });
  await expect(log.flush()).rejects.toMatchObject({ code: "write_failed" });
  await log.close();
});

describe.each(["strict", "none"] as const)("in %s, a long write", (durability) => {
  test("has a valid index before it is closed", { timeout: patience(30) }, async () => {
    const path = newPath();
    const session = await SessionManager.create("/project", join(path, ".."), { durability });
    const text = "x".repeat(1024 * 1024);
    const ids = [];
    for (let index = 0; index < 20; index++) ids.push(await session.appendMessage(user(text)));
    const file = session.getSessionFile()!;
    await session.flush();
    expect(existsSync(`${file}.idx`)).toBe(true);
    const { mtimeMs } = statSync(`${file}.idx`);
    // What the next process finds if this one is killed.
    let read = 0;
    const fileSystem = interceptCalls(nodeFileSystem, async (call, args, proceed) => {
      const result = await proceed();
      if (call === "handle.read") read += (args[0] as Buffer).length;
      return result;
    });
    const next = await SessionManager.open(file, { access: "read", fileSystem });
    expect(read).toBeLessThan(8 * text.length);
    expect(next.getEntryCount()).toBe(20);
    expect(next.getLeafId()).toBe(ids.at(-1));
    await next.close();
    expect(statSync(`${file}.idx`).mtimeMs).toBe(mtimeMs);
    await session.close();
  });
});
