/** The power goes, after every call in turn: what was acknowledged is there when it comes back. */
import { constants } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recover } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { type CrashFileSystem, type CrashLuck, createCrashFileSystem } from "../../src/testing/crash-file-system.ts";
import { patience, sessionIds, user } from "./kit.ts";

/** Where nothing is on the disk yet, not even the directories. */
const directory = "/home/agent/sessions/--project--";

const lucks: CrashLuck[] = [
  {},
  { names: true },
  { names: true, bytes: 0.5 },
  { names: true, zeros: true },
  { names: true, bytes: 0.3, zeros: true },
  { names: true, bytes: 1 },
];

interface Life {
  /** What was acknowledged as being on the disk. */
  kept: string[];
  file: string | undefined;
}

/** Runs `live` with the power going after each of its calls, and `check` on what each kind of luck leaves. */
async function everyCrash(
  live: (fileSystem: CrashFileSystem, life: Life) => Promise<void>,
  check: (left: CrashFileSystem, life: Life, at: string) => Promise<void>,
  prepare: (fileSystem: CrashFileSystem) => Promise<void> = async () => undefined,
): Promise<number> {
  for (let calls = 0; ; calls++) {
    const fileSystem = createCrashFileSystem();
    await prepare(fileSystem);
    const before = fileSystem.calls;
    fileSystem.powerAfter = before + calls;
    const life: Life = { kept: [], file: undefined };
    let isWhole = true;
    await live(fileSystem, life).catch((error: unknown) => {
      isWhole = false;
      if (fileSystem.calls <= fileSystem.powerAfter) throw error;
    });
    for (const luck of lucks)
      await check(fileSystem.afterCrash(luck), life, `after ${calls} calls, ${JSON.stringify(luck)}`);
    if (isWhole && fileSystem.calls <= fileSystem.powerAfter) return calls;
  }
}

const filesIn = async (fileSystem: CrashFileSystem) => {
  const names = await fileSystem.readdir(directory).catch(() => []);
  return names.map(({ name }) => name);
};

async function getBytes(fileSystem: CrashFileSystem, name: string): Promise<Buffer> {
  const handle = await fileSystem.open(join(directory, name), constants.O_RDONLY);
  const bytes = Buffer.alloc((await handle.stat()).size);
  await handle.read(bytes, 0);
  return bytes;
}

/** A machine that was started again knows no process of the one before. */
async function forgetLeases(fileSystem: CrashFileSystem): Promise<void> {
  for (const name of await filesIn(fileSystem))
    if (name.includes(".lock")) await fileSystem.unlink(join(directory, name));
}

async function expectKept(left: CrashFileSystem, { kept }: Life, at: string): Promise<void> {
  await forgetLeases(left);
  const names = (await filesIn(left)).filter((name) => name.endsWith(".jsonl"));
  if (names.length === 0) return void expect(kept, at).toEqual([]);
  const session = await SessionManager.open(join(directory, names[0]!), { fileSystem: left });
  const ids = await sessionIds(session);
  expect(ids.slice(0, kept.length), at).toEqual(kept);
  expect(
    session.problems.filter(({ kind }) => kind !== "torn"),
    at,
  ).toEqual([]);
  const fresh = await session.appendMessage(user("after"));
  expect(await sessionIds(session), at).toEqual([...ids, fresh]);
  await session.close();
}

test(
  "what was acknowledged in strict mode is there, from the first entry on, whatever the disk did with the rest",
  { timeout: patience(60) },
  async () => {
    const crashes = await everyCrash(async (fileSystem, life) => {
      const session = await SessionManager.create("/project", directory, { fileSystem });
      for (const text of ["a", "b", "c"]) life.kept.push(await session.appendMessage(user(text)));
      await session.close();
    }, expectKept);
    expect(crashes).toBeGreaterThan(40);
    console.log(`power lost at ${crashes} points of a new session, ${lucks.length} kinds of luck each`);
  },
);

test("in turn mode, what was flushed is there", { timeout: patience(60) }, async () => {
  await everyCrash(async (fileSystem, life) => {
    const session = await SessionManager.create("/project", directory, { fileSystem, durability: "turn" });
    for (const texts of [["a", "b"], ["c"]]) {
      const ids = [];
      for (const text of texts) ids.push(await session.appendMessage(user(text)));
      await session.flush();
      life.kept.push(...ids);
    }
    await session.close();
  }, expectKept);
});

test(
  "a session that lost its power goes on without losing anything, and loses its power again",
  { timeout: patience(60) },
  async () => {
    // With a torn tail in it, so that opening has work to do.
    const torn = '{"type":"message","id":"12';
    let first: string[] = [];
    const prepare = async (fileSystem: CrashFileSystem) => {
      const session = await SessionManager.create("/project", directory, { fileSystem });
      first = [await session.appendMessage(user("a")), await session.appendMessage(user("b"))];
      await session.close();
      const handle = await fileSystem.open(session.getSessionFile()!, constants.O_RDWR | constants.O_APPEND);
      await handle.write(Buffer.from(torn));
      await handle.sync();
      await handle.close();
    };
    await everyCrash(
      async (fileSystem, life) => {
        life.kept = [...first];
        const name = (await filesIn(fileSystem)).find((one) => one.endsWith(".jsonl"))!;
        const session = await SessionManager.open(join(directory, name), { fileSystem });
        for (const text of ["c", "d"]) life.kept.push(await session.appendMessage(user(text)));
        await session.close();
      },
      async (left, life, at) => {
        const names = await filesIn(left);
        const log = await getBytes(
          left,
          names.find((name) => name.endsWith(".jsonl"))!,
        );
        const asides = await Promise.all(
          names.filter((name) => name.includes(".torn-")).map((name) => getBytes(left, name)),
        );
        // What is cut off is beside the log before it is gone from it.
        expect(
          [log, ...asides].some((bytes) => bytes.includes(torn)),
          at,
        ).toBe(true);
        await expectKept(left, { ...life, kept: life.kept.length > 0 ? life.kept : first }, at);
      },
      prepare,
    );
  },
);

const old = ["a", "b", "c"].map((text) => ({
  type: "message",
  timestamp: "2025-01-01T00:00:00.000Z",
  message: user(text),
}));
const oldBytes = Buffer.from(
  [{ type: "session", id: "old", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/x" }, ...old]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join(""),
);

test(
  "a rewrite that loses its power leaves the old file or the new one, never neither",
  { timeout: patience(60) },
  async () => {
    const path = join(directory, "2025-01-01T00-00-00-000Z_old.jsonl");
    const crashes = await everyCrash(
      async (fileSystem) => {
        const session = await SessionManager.open(path, { fileSystem });
        await session.close();
      },
      async (left, _life, at) => {
        await forgetLeases(left);
        const session = await SessionManager.open(path, { fileSystem: left });
        expect(await sessionIds(session), at).toHaveLength(3);
        expect(session.problems, at).toEqual([]);
        await session.close();
      },
      async (fileSystem) => {
        await fileSystem.mkdir(directory, { recursive: true });
        const handle = await fileSystem.open(path, constants.O_RDWR | constants.O_CREAT);
        await handle.write(oldBytes);
        await handle.sync();
        for (let at = directory; ; at = join(at, "..")) {
          await (await fileSystem.open(at, constants.O_RDONLY)).sync();
          if (at === "/") break;
        }
      },
    );
    expect(crashes).toBeGreaterThan(20);
  },
);

test(
  "a branch that loses its power while it is made is whole or not there, and its source is untouched",
  { timeout: patience(60) },
  async () => {
    await everyCrash(
      async (fileSystem, life) => {
        const session = await SessionManager.create("/project", directory, { fileSystem, id: "source" });
        for (const text of ["a", "b"]) life.kept.push(await session.appendMessage(user(text)));
        const branch = await session.branchSession("source", life.kept[0]!);
        life.file = branch.getSessionFile()!;
        await branch.close();
        await session.close();
      },
      async (left, life, at) => {
        const names = (await filesIn(left)).filter((name) => name.endsWith(".jsonl"));
        if (life.file)
          expect(
            names.map((name) => join(directory, name)),
            at,
          ).toContain(life.file);
        for (const name of names) {
          const handle = await left.open(join(directory, name), constants.O_RDONLY);
          const bytes = Buffer.alloc((await handle.stat()).size);
          await handle.read(bytes, 0);
          const { table, problems } = recover(bytes);
          if (name === "source.jsonl") expect(table.count, at).toBeGreaterThanOrEqual(life.kept.length);
          else expect([table.count, problems.length], at).toEqual([1, 0]);
        }
      },
    );
  },
);
