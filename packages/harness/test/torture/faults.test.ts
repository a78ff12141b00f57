/** The disk says no, at every call in turn: what was acknowledged is there, and what was not is said. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeFileSystem } from "@tau/tools/platform";
import { type Fault, type FaultyFileSystem, withEveryFault } from "@tau/tools/testing";
import { afterAll, describe, expect, test } from "vitest";
import { HarnessError } from "../../src/errors.ts";
import { createFileStore } from "../../src/session/file-store.ts";
import { recover } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { around, idsIn, createLog, patience, quickScratch, sessionIds, systemError, user } from "./kit.ts";

const codes = ["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EACCES", "EROFS"] as const;
const lasting = ["once", "forever"] as const;

let points = 0;

/** Files that were opened and not closed, of which there should be none when a session is closed. */
let openFiles = 0;
const counting = around(nodeFileSystem, async (call, _args, go) => {
  const result = await go();
  if (call === "open") openFiles++;
  if (call === "handle.close") openFiles--;
  return result;
});
afterAll(() => console.log(`${points} injected failures`));

/** What a session does for a living, as far as the disk lets it: the ids that were acknowledged. */
async function work(session: SessionManager, count: number): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let at = 0; at < count; at++) {
    try {
      acknowledged.push(await session.appendMessage(user(`m${at}`)));
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

/** The process that had the lease is gone. */
function forgetLeases(directory: string): void {
  for (const name of readdirSync(directory)) if (name.includes(".lock")) rmSync(join(directory, name));
}

/** The session opens on a disk that works, with what was acknowledged, and goes on. */
async function expectSound(path: string, acknowledged: readonly string[], at: string): Promise<string[]> {
  if (!existsSync(path)) {
    expect(acknowledged, at).toEqual([]);
    return [];
  }
  forgetLeases(join(path, ".."));
  const { problems } = recover(readFileSync(path));
  expect(
    problems.filter(({ kind }) => kind !== "torn"),
    at,
  ).toEqual([]);
  const session = await SessionManager.open(path);
  const ids = await sessionIds(session);
  expect(
    ids.filter((id) => acknowledged.includes(id)),
    at,
  ).toEqual(acknowledged);
  const fresh = await session.appendMessage(user("after"));
  await session.close();
  const bytes = readFileSync(path);
  const after = recover(bytes);
  expect(after.problems, at).toEqual([]);
  expect(idsIn(bytes, after), at).toEqual([...ids, fresh]);
  expect(bytes.toString().match(/"type":"session"/g), at).toHaveLength(1);
  return ids;
}

const getName = ({ at, code, lasts }: Fault, { calls }: FaultyFileSystem) =>
  `${code}, ${lasts}, at ${at}: ${calls[at - 1]}`;

for (const code of codes) {
  test(
    `a new session whose disk says ${code}, at any call, once or from then on, keeps what it acknowledged`,
    { timeout: patience(60) },
    async () => {
      const root = quickScratch();
      for (const lasts of lasting) {
        let runs = 0;
        const tried = await withEveryFault(
          counting,
          async (fileSystem, fault) => {
            const directory = join(root, `${lasts}-${++runs}`, "deep");
            const session = await SessionManager.create("/project", directory, { fileSystem }).catch(
              expectSystemOrWords,
            );
            if (!session) return;
            const acknowledged = await work(session, 3);
            const at = getName(fault, fileSystem);
            expect(openFiles, at).toBe(0);
            const ids = await expectSound(session.getSessionFile()!, acknowledged, at);
            const hasFailed = fileSystem.calls.length >= fault.at;
            if (!hasFailed) expect(acknowledged).toHaveLength(3);
            // Who fails once and is asked again succeeds, unless the disk may have thrown something away.
            const isPoisoned = fileSystem.calls[fault.at - 1] === "handle.datasync";
            if (lasts === "once" && !isPoisoned && !session.readOnly) {
              expect(acknowledged.length, at).toBeGreaterThanOrEqual(2);
              expect(ids, at).toEqual(acknowledged);
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
  "a session with a torn end whose disk fails at any call loses nothing, and what is torn is in the file or beside it",
  { timeout: patience(60) },
  async () => {
    const root = quickScratch();
    const good = createLog(5);
    const torn = Buffer.from('{"type":"message","id":"0000');
    let runs = 0;
    for (const code of ["EIO", "ENOSPC", "EROFS"]) {
      for (const lasts of lasting) {
        points += await withEveryFault(
          counting,
          async (fileSystem, fault) => {
            const directory = join(root, String(++runs));
            mkdirSync(directory);
            const path = join(directory, "2026-01-01T00-00-00-000Z_torture.jsonl");
            writeFileSync(path, Buffer.concat([good, torn]));
            const session = await SessionManager.open(path, { fileSystem }).catch(expectSystemOrWords);
            const acknowledged = session ? await work(session, 2) : [];
            const at = getName(fault, fileSystem);
            expect(openFiles, at).toBe(0);
            openFiles = 0;
            const bytes = readFileSync(path);
            expect(bytes.subarray(0, good.length).equals(good), at).toBe(true);
            const isInPlace = bytes.subarray(good.length).equals(torn);
            const asides = readdirSync(directory).filter((name) => name.includes(".torn-"));
            const isAside = asides.some((name) => readFileSync(join(directory, name)).equals(torn));
            expect(isInPlace || isAside, at).toBe(true);
            await expectSound(path, acknowledged, at);
          },
          { code, lasts },
        );
      }
    }
  },
);

test("a session that cannot be written can be read, and says why", async () => {
  const path = join(quickScratch(), "2026-01-01T00-00-00-000Z_torture.jsonl");
  for (const end of ["", '{"torn']) {
    writeFileSync(path, Buffer.concat([createLog(3), Buffer.from(end)]));
    const fileSystem = around(nodeFileSystem, async (call, args, go) => {
      const isWriting = call === "link" || call === "rename" || (call === "open" && Number(args[1]) !== 0);
      if (isWriting) throw systemError("EROFS");
      return await go();
    });
    const session = await SessionManager.open(path, { fileSystem });
    expect(session.readOnly).toMatchObject({ reason: "refused", message: expect.stringContaining("EROFS") });
    expect(await sessionIds(session)).toHaveLength(3);
    await expect(session.appendMessage(user("x"))).rejects.toThrow("cannot be written");
    await session.close();
  }
});

describe("a write that is cut short", () => {
  const isAppend = (call: string, args: unknown[]) => call === "handle.write" && String(args[0]).includes('"type"');
  for (const code of ["ENOSPC", "EIO", "EFBIG"]) {
    for (const share of [0, 0.5, 0.99, 1]) {
      test(`after ${share * 100} % by ${code} is taken back, and the next one is clean`, async () => {
        let writes = 0;
        const fileSystem = around(nodeFileSystem, async (call, args, go, handle) => {
          if (!isAppend(call, args) || ++writes !== 2) return await go();
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
        expect(await expectSound(path, [first, third], code)).toEqual([first, third]);
      });
    }
  }

  test("and that cannot be taken back ends the writing, with the reason, and nothing that was saved is lost", async () => {
    let writes = 0;
    const fileSystem = around(nodeFileSystem, async (call, args, go, handle) => {
      if (call === "handle.truncate") throw systemError("EIO");
      if (!isAppend(call, args) || ++writes !== 2) return await go();
      await handle!.write((args[0] as Buffer).subarray(0, 20));
      throw systemError("ENOSPC");
    });
    const session = await SessionManager.create("/project", quickScratch(), { fileSystem });
    const first = await session.appendMessage(user("a"));
    for (const text of ["b", "c"])
      await expect(session.appendMessage(user(text))).rejects.toThrow(/disk is full.*cannot be undone/);
    expect(await sessionIds(session)).toEqual([first]);
    await session.close();
    expect(await expectSound(session.getSessionFile()!, [first], "")).toEqual([first]);
  });

  test("is not taken back when somebody else has written behind it", async () => {
    let writes = 0;
    const path = { file: "" };
    const fileSystem = around(nodeFileSystem, async (call, args, go, handle) => {
      if (!isAppend(call, args) || ++writes !== 2) return await go();
      await handle!.write((args[0] as Buffer).subarray(0, 20));
      writeFileSync(path.file, "\nsomebody else's\n", { flag: "a" });
      throw systemError("ENOSPC");
    });
    const session = await SessionManager.create("/project", quickScratch(), { fileSystem });
    await session.appendMessage(user("a"));
    path.file = session.getSessionFile()!;
    await expect(session.appendMessage(user("b"))).rejects.toMatchObject({ code: "overtaken" });
    await session.close();
    expect(readFileSync(path.file, "utf8")).toContain("somebody else's");
  });
});

describe("a disk that refuses to sync", () => {
  for (const durability of ["strict", "turn"] as const) {
    test(`ends the writing (${durability}), and is not asked a second time: it would lie`, async () => {
      const syncs: string[] = [];
      let isBroken = false;
      const fileSystem = around(nodeFileSystem, async (call, _args, go) => {
        if (call !== "handle.datasync") return await go();
        syncs.push(isBroken ? "failed" : "done");
        if (isBroken) throw systemError("EIO");
        return await go();
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
      // From here on the disk would say yes.
      isBroken = false;
      await expect(append()).rejects.toMatchObject({ code: "write_failed" });
      await expect(session.flush()).rejects.toMatchObject({ code: "write_failed" });
      await session.close();
      expect(syncs.lastIndexOf("done")).toBeLessThan(syncs.indexOf("failed"));
      expect(syncs.filter((sync) => sync === "failed")).toHaveLength(1);
      expect((await expectSound(session.getSessionFile()!, [first], ""))[0]).toBe(first);
    });
  }
});

test("a store whose disk has refused to sync says no from then on, without asking it", async () => {
  let syncs = 0;
  const fileSystem = around(nodeFileSystem, async (call, _args, go) => {
    if (call !== "handle.datasync") return await go();
    if (++syncs === 1) throw systemError("EIO");
    return await go();
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

test("who does not wait is told with the next append that the one before was not kept", async () => {
  let isFull = false;
  const fileSystem = around(nodeFileSystem, async (call, _args, go) => {
    if (isFull && call === "handle.write") throw systemError("ENOSPC");
    return await go();
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
  expect(await expectSound(session.getSessionFile()!, [first], "")).toEqual([first]);
});

test("what is left of a session whose disk is gone can be saved elsewhere", async () => {
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
