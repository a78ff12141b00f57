/** Every call to the file system fails once: acknowledged entries are kept, and lost ones are reported. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeFileSystem } from "@tau/tools/platform";
import { type Fault, type FaultyFileSystem, withEveryFault } from "@tau/tools/testing";
import { afterAll, describe, expect, test } from "vitest";
import { HarnessError } from "@tau/protocol";
import { createFileStore } from "@tau/tools/storage";
import { recover } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import {
  interceptCalls,
  idsIn,
  isLong,
  createLog,
  patience,
  quickScratch,
  sessionIds,
  systemError,
  user,
} from "./kit.ts";

const codes = ["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EACCES", "EROFS"] as const;
const lasting = ["once", "forever"] as const;

let points = 0;

/** The number of open files, which must be 0 after a session is closed. */
let openFiles = 0;
const countingFileSystem = interceptCalls(nodeFileSystem, async (call, _args, proceed) => {
  const result = await proceed();
  if (call === "open") openFiles++;
  if (call === "handle.close") openFiles--;
  return result;
});
afterAll(() => console.log(`${points} injected failures`));

/** Appends entries and closes the session. Returns the acknowledged ids. */
async function work(session: SessionManager, count: number): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let index = 0; index < count; index++) {
    try {
      acknowledged.push(await session.appendMessage(user(`m${index}`)));
    } catch (error) {
      expectWords(error);
    }
  }
  await session.close().catch(expectSystemOrWords);
  return acknowledged;
}

function expectWords(error: unknown): void {
  expect(error).toBeInstanceOf(HarnessError);
  const { code, message } = error as HarnessError;
  expect(["write_failed", "read_only"]).toContain(code);
  expect(message).toMatch(/could not be saved|cannot be written/);
}

function expectSystemOrWords(error: unknown): void {
  if (error instanceof HarnessError) return expectWords(error);
  expect((error as { code?: unknown }).code).toBeTypeOf("string");
}

/** Removes the leases, as if the process that held them had ended. */
function forgetLeases(directory: string): void {
  for (const name of readdirSync(directory)) if (name.includes(".lock")) rmSync(join(directory, name));
}

/** The session opens on a working disk with the acknowledged entries, and can be appended to. */
async function expectIntact(path: string, acknowledged: readonly string[], message: string): Promise<string[]> {
  if (!existsSync(path)) {
    expect(acknowledged, message).toEqual([]);
    return [];
  }
  forgetLeases(join(path, ".."));
  const { problems } = recover(readFileSync(path));
  expect(
    problems.filter(({ kind }) => kind !== "torn"),
    message,
  ).toEqual([]);
  const session = await SessionManager.open(path);
  const ids = await sessionIds(session);
  expect(
    ids.filter((id) => acknowledged.includes(id)),
    message,
  ).toEqual(acknowledged);
  const fresh = await session.appendMessage(user("after"));
  await session.close();
  const bytes = readFileSync(path);
  const after = recover(bytes);
  expect(after.problems, message).toEqual([]);
  expect(idsIn(bytes, after), message).toEqual([...ids, fresh]);
  expect(bytes.toString().match(/"type":"session"/g), message).toHaveLength(1);
  return ids;
}

const formatFault = ({ at, code, lasts }: Fault, { calls }: FaultyFileSystem) =>
  `${code}, ${lasts}, at ${at}: ${calls[at - 1]}`;

for (const code of codes) {
  test(
    `a new session whose disk fails with ${code} at any call, once or from then on, keeps the acknowledged entries`,
    { timeout: patience(60) },
    async () => {
      const root = quickScratch();
      for (const lasts of lasting) {
        let runs = 0;
        const tried = await withEveryFault(
          countingFileSystem,
          async (fileSystem, fault) => {
            const directory = join(root, `${lasts}-${++runs}`, "deep");
            const session = await SessionManager.create("/project", directory, { fileSystem }).catch(
              expectSystemOrWords,
            );
            if (!session) return;
            const acknowledged = await work(session, 3);
            const message = formatFault(fault, fileSystem);
            expect(openFiles, message).toBe(0);
            const ids = await expectIntact(session.getSessionFile()!, acknowledged, message);
            const hasFailed = fileSystem.calls.length >= fault.at;
            if (!hasFailed) expect(acknowledged).toHaveLength(3);
            // After a single failure, later appends succeed, unless the disk may have dropped bytes.
            const isSyncFailure = fileSystem.calls[fault.at - 1] === "handle.datasync";
            if (lasts === "once" && !isSyncFailure && !session.readOnly) {
              expect(acknowledged.length, message).toBeGreaterThanOrEqual(2);
              expect(ids, message).toEqual(acknowledged);
            }
          },
          { code, lasts },
        );
        expect(tried).toBeGreaterThan(30);
        points += tried;
      }
    },
  );
}

test(
  "a session with a torn tail whose disk fails at any call loses nothing, and the tail is in the file or beside it",
  { timeout: patience(60) },
  async () => {
    const root = quickScratch();
    const good = createLog(5);
    const torn = Buffer.from('{"type":"message","id":"0000');
    let runs = 0;
    for (const [index, code] of ["EIO", "ENOSPC", "EROFS"].entries()) {
      for (const lasts of isLong ? lasting : [lasting[index % 2]!]) {
        points += await withEveryFault(
          countingFileSystem,
          async (fileSystem, fault) => {
            const directory = join(root, String(++runs));
            mkdirSync(directory);
            const path = join(directory, "2026-01-01T00-00-00-000Z_torture.jsonl");
            writeFileSync(path, Buffer.concat([good, torn]));
            const session = await SessionManager.open(path, { fileSystem }).catch(expectSystemOrWords);
            const acknowledged = session ? await work(session, 2) : [];
            const message = formatFault(fault, fileSystem);
            expect(openFiles, message).toBe(0);
            openFiles = 0;
            const bytes = readFileSync(path);
            expect(bytes.subarray(0, good.length).equals(good), message).toBe(true);
            const isInPlace = bytes.subarray(good.length).equals(torn);
            const asides = readdirSync(directory).filter((name) => name.includes(".torn-"));
            const isAside = asides.some((name) => readFileSync(join(directory, name)).equals(torn));
            expect(isInPlace || isAside, message).toBe(true);
            await expectIntact(path, acknowledged, message);
          },
          { code, lasts },
        );
      }
    }
  },
);

test("a session that cannot be written can be read, and gives the reason", async () => {
  const path = join(quickScratch(), "2026-01-01T00-00-00-000Z_torture.jsonl");
  for (const end of ["", '{"torn']) {
    writeFileSync(path, Buffer.concat([createLog(3), Buffer.from(end)]));
    const fileSystem = interceptCalls(nodeFileSystem, async (call, args, proceed) => {
      const isWriting = call === "link" || call === "rename" || (call === "open" && Number(args[1]) !== 0);
      if (isWriting) throw systemError("EROFS");
      return await proceed();
    });
    const session = await SessionManager.open(path, { fileSystem });
    expect(session.readOnly).toMatchObject({ reason: "refused", message: expect.stringContaining("EROFS") });
    expect(await sessionIds(session)).toHaveLength(3);
    await expect(session.appendMessage(user("x"))).rejects.toThrow("cannot be written");
    await session.close();
  }
});

describe("a partial write", () => {
  const isAppend = (call: string, args: unknown[]) => call === "handle.write" && String(args[0]).includes('"type"');
  for (const code of ["ENOSPC", "EIO", "EFBIG"]) {
    for (const share of [0, 0.5, 0.99, 1]) {
      test(`of ${share * 100} % because of ${code} is undone, and the next append succeeds`, async () => {
        let writes = 0;
        const fileSystem = interceptCalls(nodeFileSystem, async (call, args, proceed, handle) => {
          if (!isAppend(call, args) || ++writes !== 2) return await proceed();
          const bytes = args[0] as Buffer;
          await handle!.write(bytes.subarray(0, Math.floor(bytes.length * share)));
          throw systemError(code);
        });
        const session = await SessionManager.create("/project", quickScratch(), { fileSystem });
        const first = await session.appendMessage(user("a"));
        await expect(session.appendMessage(user("b"))).rejects.toMatchObject({
          code: "write_failed",
          message: expect.stringContaining(code),
        });
        expect(session.getLeafId()).toBe(first);
        const path = session.getSessionFile()!;
        expect(idsIn(readFileSync(path), recover(readFileSync(path)))).toEqual([first]);
        const third = await session.appendMessage(user("c"));
        await session.close();
        expect(await expectIntact(path, [first, third], code)).toEqual([first, third]);
      });
    }
  }

  test("that cannot be undone makes the session read-only, with the reason, and loses no saved entry", async () => {
    let writes = 0;
    const fileSystem = interceptCalls(nodeFileSystem, async (call, args, proceed, handle) => {
      if (call === "handle.truncate") throw systemError("EIO");
      if (!isAppend(call, args) || ++writes !== 2) return await proceed();
      await handle!.write((args[0] as Buffer).subarray(0, 20));
      throw systemError("ENOSPC");
    });
    const session = await SessionManager.create("/project", quickScratch(), { fileSystem });
    const first = await session.appendMessage(user("a"));
    for (const text of ["b", "c"])
      await expect(session.appendMessage(user(text))).rejects.toThrow(/disk is full.*cannot be undone/);
    expect(await sessionIds(session)).toEqual([first]);
    await session.close();
    expect(await expectIntact(session.getSessionFile()!, [first], "")).toEqual([first]);
  });

  test("is not undone if another program has appended to the file", async () => {
    let writes = 0;
    const path = { file: "" };
    const fileSystem = interceptCalls(nodeFileSystem, async (call, args, proceed, handle) => {
      if (!isAppend(call, args) || ++writes !== 2) return await proceed();
      await handle!.write((args[0] as Buffer).subarray(0, 20));
      writeFileSync(path.file, "\nof another program\n", { flag: "a" });
      throw systemError("ENOSPC");
    });
    const session = await SessionManager.create("/project", quickScratch(), { fileSystem });
    await session.appendMessage(user("a"));
    path.file = session.getSessionFile()!;
    await expect(session.appendMessage(user("b"))).rejects.toMatchObject({ code: "overtaken" });
    await session.close();
    expect(readFileSync(path.file, "utf8")).toContain("of another program");
  });
});

describe("a disk that refuses to sync", () => {
  for (const durability of ["strict", "turn"] as const) {
    test(`makes the session read-only (${durability}), and is not synced again, because that would succeed`, async () => {
      const syncs: string[] = [];
      let isBroken = false;
      const fileSystem = interceptCalls(nodeFileSystem, async (call, _args, proceed) => {
        if (call !== "handle.datasync") return await proceed();
        syncs.push(isBroken ? "failed" : "done");
        if (isBroken) throw systemError("EIO");
        return await proceed();
      });
      const session = await SessionManager.create("/project", quickScratch(), { fileSystem, durability });
      const first = await session.appendMessage(user("a"));
      await session.flush();
      isBroken = true;
      const append = async () => {
        await session.appendMessage(user("b"));
        await session.flush();
      };
      await expect(append()).rejects.toMatchObject({
        code: "write_failed",
        message: expect.stringContaining("disk refused"),
      });
      // From here on a sync would succeed.
      isBroken = false;
      await expect(append()).rejects.toMatchObject({ code: "write_failed" });
      await expect(session.flush()).rejects.toMatchObject({ code: "write_failed" });
      await session.close();
      expect(syncs.lastIndexOf("done")).toBeLessThan(syncs.indexOf("failed"));
      expect(syncs.filter((sync) => sync === "failed")).toHaveLength(1);
      expect((await expectIntact(session.getSessionFile()!, [first], ""))[0]).toBe(first);
    });
  }
});

test("a store whose disk has refused to sync fails from then on, without another sync", async () => {
  let syncs = 0;
  const fileSystem = interceptCalls(nodeFileSystem, async (call, _args, proceed) => {
    if (call !== "handle.datasync") return await proceed();
    if (++syncs === 1) throw systemError("EIO");
    return await proceed();
  });
  const store = createFileStore({ path: join(quickScratch(), "log.jsonl"), fileSystem });
  const position = 0;
  expect((await store.append(Buffer.from("a\n"), { position, sync: false })).kind).toBe("appended");
  for (let turn = 0; turn < 3; turn++) expect(await store.sync()).toBe(false);
  expect(await store.append(Buffer.from("b\n"), { position: 2, sync: true })).toMatchObject({
    kind: "failed",
    canRetry: false,
  });
  expect(syncs).toBe(1);
  await store.close();
});

test("without waiting, a lost entry is reported by the next call", async () => {
  let isFull = false;
  const fileSystem = interceptCalls(nodeFileSystem, async (call, _args, proceed) => {
    if (isFull && call === "handle.write") throw systemError("ENOSPC");
    return await proceed();
  });
  const session = await SessionManager.create("/project", quickScratch(), { fileSystem, durability: "none" });
  const first = await session.appendMessage(user("a"));
  await session.flush();
  isFull = true;
  await session.appendMessage(user("b"));
  await expect(session.flush()).rejects.toMatchObject({ code: "write_failed" });
  isFull = false;
  await expect(session.appendMessage(user("c"))).rejects.toThrow("the disk is full");
  await session.close();
  expect(await expectIntact(session.getSessionFile()!, [first], "")).toEqual([first]);
});

test("a session whose directory is gone can be saved elsewhere", async () => {
  const [directory, elsewhere] = [quickScratch(), quickScratch()];
  const session = await SessionManager.create("/project", directory);
  const ids = [await session.appendMessage(user("a")), await session.appendMessage(user("b"))];
  rmSync(directory, { recursive: true });
  await expect(session.appendMessage(user("c"))).rejects.toMatchObject({
    code: "overtaken",
    message: expect.stringContaining("removed"),
  });
  expect(await sessionIds(session)).toEqual(ids);
  const path = join(elsewhere, "2026-01-01T00-00-00-000Z_saved.jsonl");
  await session.saveAs(path);
  await session.close().catch(expectSystemOrWords);
  const saved = await SessionManager.open(path);
  expect(await sessionIds(saved)).toEqual(ids);
  await saved.appendMessage(user("c"));
  await saved.close();
});
