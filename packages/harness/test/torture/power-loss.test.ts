/** A power loss after every call: acknowledged entries are there after a restart. */
import { constants } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recover } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { type CrashFileSystem, type CrashLuck, createCrashFileSystem } from "../../src/testing/crash-file-system.ts";
import { patience, sessionIds, user } from "./kit.ts";

/** Not even the parent directories exist. */
const directory = "/home/agent/sessions/--project--";

const lucks: CrashLuck[] = [
  {},
  { names: true },
  { names: true, bytes: 0.5 },
  { names: true, zeros: true },
  { names: true, bytes: 0.3, zeros: true },
  { names: true, bytes: 1 },
];

interface Acknowledged {
  /** The ids of entries that are acknowledged to be on the disk. */
  kept: string[];
  file: string | undefined;
}

/** Runs `run` with a power loss after each of its calls, and `check` on what each kind of luck leaves. */
async function crashEverywhere(
  run: (fileSystem: CrashFileSystem, acknowledged: Acknowledged) => Promise<void>,
  check: (restarted: CrashFileSystem, acknowledged: Acknowledged, message: string) => Promise<void>,
  prepare: (fileSystem: CrashFileSystem) => Promise<void> = async () => undefined,
): Promise<number> {
  for (let calls = 0; ; calls++) {
    const fileSystem = createCrashFileSystem();
    await prepare(fileSystem);
    const before = fileSystem.calls;
    fileSystem.powerAfter = before + calls;
    const acknowledged: Acknowledged = { kept: [], file: undefined };
    let isWhole = true;
    await run(fileSystem, acknowledged).catch((error: unknown) => {
      isWhole = false;
      if (fileSystem.calls <= fileSystem.powerAfter) throw error;
    });
    for (const luck of lucks)
      await check(fileSystem.afterCrash(luck), acknowledged, `after ${calls} calls, ${JSON.stringify(luck)}`);
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

/** After a restart, no process of before is alive. */
async function forgetLeases(fileSystem: CrashFileSystem): Promise<void> {
  for (const name of await filesIn(fileSystem))
    if (name.includes(".lock")) await fileSystem.unlink(join(directory, name));
}

async function expectKept(restarted: CrashFileSystem, { kept }: Acknowledged, message: string): Promise<void> {
  await forgetLeases(restarted);
  const names = (await filesIn(restarted)).filter((name) => name.endsWith(".jsonl"));
  if (names.length === 0) return void expect(kept, message).toEqual([]);
  const session = await SessionManager.open(join(directory, names[0]!), { fileSystem: restarted });
  const ids = await sessionIds(session);
  expect(ids.slice(0, kept.length), message).toEqual(kept);
  expect(
    session.problems.filter(({ kind }) => kind !== "torn"),
    message,
  ).toEqual([]);
  const fresh = await session.appendMessage(user("after"));
  expect(await sessionIds(session), message).toEqual([...ids, fresh]);
  await session.close();
}

test(
  "in strict mode, all acknowledged entries are kept, whatever the disk did with the rest",
  { timeout: patience(60) },
  async () => {
    const crashes = await crashEverywhere(async (fileSystem, acknowledged) => {
      const session = await SessionManager.create("/project", directory, { fileSystem });
      for (const text of ["a", "b", "c"]) acknowledged.kept.push(await session.appendMessage(user(text)));
      await session.close();
    }, expectKept);
    expect(crashes).toBeGreaterThan(40);
    console.log(`power lost at ${crashes} points of a new session, ${lucks.length} kinds of luck each`);
  },
);

test("in turn mode, flushed entries are kept", { timeout: patience(60) }, async () => {
  await crashEverywhere(async (fileSystem, acknowledged) => {
    const session = await SessionManager.create("/project", directory, { fileSystem, durability: "turn" });
    for (const texts of [["a", "b"], ["c"]]) {
      const ids = [];
      for (const text of texts) ids.push(await session.appendMessage(user(text)));
      await session.flush();
      acknowledged.kept.push(...ids);
    }
    await session.close();
  }, expectKept);
});

test("a second power loss after a restart loses no acknowledged entry", { timeout: patience(60) }, async () => {
  // With a torn tail, which is cut off when the session is opened.
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
  await crashEverywhere(
    async (fileSystem, acknowledged) => {
      acknowledged.kept = [...first];
      const name = (await filesIn(fileSystem)).find((one) => one.endsWith(".jsonl"))!;
      const session = await SessionManager.open(join(directory, name), { fileSystem });
      for (const text of ["c", "d"]) acknowledged.kept.push(await session.appendMessage(user(text)));
      await session.close();
    },
    async (restarted, acknowledged, message) => {
      const names = await filesIn(restarted);
      const log = await getBytes(
        restarted,
        names.find((name) => name.endsWith(".jsonl"))!,
      );
      const asides = await Promise.all(
        names.filter((name) => name.includes(".torn-")).map((name) => getBytes(restarted, name)),
      );
      // The torn tail is copied before it is cut off.
      expect(
        [log, ...asides].some((bytes) => bytes.includes(torn)),
        message,
      ).toBe(true);
      await expectKept(
        restarted,
        { ...acknowledged, kept: acknowledged.kept.length > 0 ? acknowledged.kept : first },
        message,
      );
    },
    prepare,
  );
});

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

test("a power loss during an upgrade leaves the old file or the new one", { timeout: patience(60) }, async () => {
  const path = join(directory, "2025-01-01T00-00-00-000Z_old.jsonl");
  const crashes = await crashEverywhere(
    async (fileSystem) => {
      const session = await SessionManager.open(path, { fileSystem });
      await session.close();
    },
    async (restarted, _acknowledged, message) => {
      await forgetLeases(restarted);
      const session = await SessionManager.open(path, { fileSystem: restarted });
      expect(await sessionIds(session), message).toHaveLength(3);
      expect(session.problems, message).toEqual([]);
      await session.close();
    },
    async (fileSystem) => {
      await fileSystem.mkdir(directory, { recursive: true });
      const handle = await fileSystem.open(path, constants.O_RDWR | constants.O_CREAT);
      await handle.write(oldBytes);
      await handle.sync();
      for (let parent = directory; ; parent = join(parent, "..")) {
        await (await fileSystem.open(parent, constants.O_RDONLY)).sync();
        if (parent === "/") break;
      }
    },
  );
  expect(crashes).toBeGreaterThan(20);
});

test(
  "a power loss during branching leaves a whole branch or none, and does not change the source",
  { timeout: patience(60) },
  async () => {
    await crashEverywhere(
      async (fileSystem, acknowledged) => {
        const session = await SessionManager.create("/project", directory, { fileSystem, id: "source" });
        for (const text of ["a", "b"]) acknowledged.kept.push(await session.appendMessage(user(text)));
        const branch = await session.branchSession("source", acknowledged.kept[0]!);
        acknowledged.file = branch.getSessionFile()!;
        await branch.close();
        await session.close();
      },
      async (restarted, acknowledged, message) => {
        const names = (await filesIn(restarted)).filter((name) => name.endsWith(".jsonl"));
        if (acknowledged.file)
          expect(
            names.map((name) => join(directory, name)),
            message,
          ).toContain(acknowledged.file);
        for (const name of names) {
          const handle = await restarted.open(join(directory, name), constants.O_RDONLY);
          const bytes = Buffer.alloc((await handle.stat()).size);
          await handle.read(bytes, 0);
          const { table, problems } = recover(bytes);
          if (name === "source.jsonl") expect(table.count, message).toBeGreaterThanOrEqual(acknowledged.kept.length);
          else expect([table.count, problems.length], message).toEqual([1, 0]);
        }
      },
    );
  },
);
