/** Several processes, some of which are killed. See `kit.ts` for longer runs. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acquireLease, nodeFileSystem } from "@tau/tools/platform";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeLine } from "../../src/session/line.ts";
import { recover } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import {
  interceptCalls,
  below,
  bundle,
  entry,
  header,
  idsIn,
  createLog,
  patience,
  quickScratch,
  randomFrom,
  scratch,
  seed,
  sessionIds,
  times,
  user,
} from "./kit.ts";

let directory: string;
let script: string;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "tau-writer-"));
  script = await bundle("writer", directory);
});
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

interface Writer {
  child: ChildProcess;
  /** The lines that it has printed so far. */
  said: string[];
  /** Resolves with how it ended, when all it said has been heard. */
  ended: Promise<{ code: number | null; errors: string }>;
  /** Resolves when what it has said so far fulfils the condition, or when it has ended. */
  heard(isEnough: (said: readonly string[]) => boolean): Promise<void>;
}

function startWriter(...args: string[]): Writer {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  const said: string[] = [];
  let [rest, errors] = ["", ""];
  const waiting = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    said.push(...lines);
    for (const look of waiting) look();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const ended = once(child, "close").then(([code]) => {
    children.delete(child);
    for (const look of waiting) look();
    return { code: code as number | null, errors };
  });
  const heard: Writer["heard"] = (isEnough) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isEnough(said) && !child.killed && child.exitCode === null) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { child, said, ended, heard };
}

const acknowledgedBy = ({ said }: Writer) =>
  said.filter((line) => line.startsWith("ack ")).map((line) => line.slice(4));

test(
  "a writer that is killed at any moment loses nothing that it acknowledged",
  { timeout: patience(180) },
  async () => {
    const kills = times(200, 40);
    const counts = { killed: 0, inside: 0, acknowledged: 0, torn: 0 };
    const lane = async (number: number) => {
      const random = randomFrom(seed + number);
      const place = scratch();
      let path = "";
      let known: string[] = [];
      for (let kill = number; kill < kills; kill += 2) {
        // Some go on with what others left, so that what a kill leaves is opened by a process that is killed.
        if (path === "" || below(random, 12) === 0) {
          path = join(place, `2026-01-01T00-00-00-000Z_${kill}.jsonl`);
          known = [];
          if (below(random, 2) === 0) writeFileSync(path, encodeLine(header()));
          else writeFileSync(path, "");
        }
        const writer = startWriter(path, kill % 4 === 3 ? "turn" : "strict");
        // Some lines later, however busy the machine is; where in an append the kill comes is left to chance.
        const lines = 2 + below(random, 12);
        await writer.heard((said) => said.length >= lines);
        await new Promise((resolve) => setTimeout(resolve, random() * 3));
        writer.child.kill("SIGKILL");
        const { errors } = await writer.ended;
        expect(errors).toBe("");
        counts.killed++;
        if (writer.said.at(-1) === "begin") counts.inside++;
        const acknowledged = acknowledgedBy(writer);
        counts.acknowledged += acknowledged.length;
        known.push(...acknowledged);
        const bytes = readFileSync(path);
        const found = recover(bytes);
        expect(found.problems.filter(({ kind }) => kind !== "torn")).toEqual([]);
        if (found.problems.length > 0) counts.torn++;
        const ids = idsIn(bytes, found);
        expect(ids.filter((id) => known.includes(id))).toEqual(known);
        // At most the one that was being written is there without having been acknowledged.
        expect(ids.length - known.length).toBeLessThanOrEqual(1);
        known = ids;
      }
    };
    await Promise.all([lane(0), lane(1)]);
    const share = Math.round((100 * counts.inside) / counts.killed);
    console.log(
      `${counts.killed} kills (seed ${seed}): ${counts.inside} inside of an append (${share} %), ${counts.torn} torn tails, ` +
        `${counts.acknowledged} entries acknowledged, none lost`,
    );
    expect(counts.killed).toBe(kills);
    expect(counts.inside).toBeGreaterThanOrEqual(0.3 * kills);
    expect(counts.acknowledged).toBeGreaterThan(kills);
  },
);

test(
  "eight processes that wait for each other write without a word between another's",
  { timeout: patience(180) },
  async () => {
    const [writers, quota] = [8, times(500, 120)];
    const path = join(quickScratch(), "2026-01-01T00-00-00-000Z_torture.jsonl");
    writeFileSync(path, encodeLine(header()));
    const all = Array.from({ length: writers }, (_unused, at) =>
      startWriter(path, "strict", String(quota), "8", `w${at}`),
    );
    const ends = await Promise.all(all.map(({ ended }) => ended));
    expect(ends.map(({ code, errors }) => [code, errors])).toEqual(all.map(() => [0, ""]));
    const bytes = readFileSync(path);
    const found = recover(bytes);
    expect(found.problems).toEqual([]);
    const ids = idsIn(bytes, found);
    expect(ids).toHaveLength(writers * quota);
    expect(new Set(ids).size).toBe(ids.length);
    const session = await SessionManager.open(path);
    const entries = await session.getEntries();
    await session.close();
    // Each found the last entry of the one before, so it is one line and no tree.
    expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...ids.slice(0, -1)]);
    const names = entries.map((one) => one.type === "message" && one.message.role === "user" && one.message.content);
    for (const [at, writer] of all.entries())
      expect(ids.filter((_id, row) => names[row] === `w${at}`)).toEqual(acknowledgedBy(writer));
    const handOvers = names.filter((name, row) => row > 0 && name !== names[row - 1]).length;
    console.log(`${writers} processes, ${ids.length} entries, ${handOvers} hand-overs`);
    expect(handOvers).toBeGreaterThanOrEqual(writers * 6);
  },
);

test(
  "who is killed while writing gives way to the next, and who lives does not",
  { timeout: patience(60) },
  async () => {
    const path = join(quickScratch(), "2026-01-01T00-00-00-000Z_torture.jsonl");
    writeFileSync(path, encodeLine(header()));
    const writer = startWriter(path, "strict");
    await writer.heard((said) => said.includes("open"));
    await writer.heard((said) => said.includes("begin"));
    const reader = await SessionManager.open(path);
    expect(reader.readOnly).toMatchObject({ reason: "held", holder: { name: `process ${writer.child.pid}` } });
    await expect(reader.appendMessage(user("x"))).rejects.toThrow(`process ${writer.child.pid}`);
    await reader.close();
    writer.child.kill("SIGKILL");
    await writer.ended;
    const next = await SessionManager.open(path);
    expect(next.readOnly).toBeUndefined();
    const before = await sessionIds(next);
    const fresh = await next.appendMessage(user("x"));
    expect(await sessionIds(next)).toEqual([...before, fresh]);
    expect(before).toEqual(expect.arrayContaining(acknowledgedBy(writer)));
    await next.close();
  },
);

describe("a writer whose file", () => {
  const others = encodeLine(entry(99, 0));
  const cases: [string, (path: string) => void][] = [
    ["somebody else wrote to", (path) => appendFileSync(path, others)],
    ["was cut off", (path) => truncateSync(path, readFileSync(path).length - 1)],
    ["was emptied", (path) => truncateSync(path, 0)],
    ["was removed", (path) => rmSync(path)],
    ["was replaced by another", (path) => (writeFileSync(`${path}.x`, others), renameSync(`${path}.x`, path))],
    ["was replaced by a copy", (path) => (copyFileSync(path, `${path}.x`), renameSync(`${path}.x`, path))],
  ];
  for (const [isWriting, moment] of [
    [true, "while it writes"],
    [false, "before it writes"],
  ] as const) {
    test.each(cases)(`%s ${moment} stops, touches nothing, and can be saved elsewhere`, async (_name, change) => {
      const place = quickScratch();
      const path = join(place, "2026-01-01T00-00-00-000Z_torture.jsonl");
      writeFileSync(path, createLog(3));
      const session = await SessionManager.open(path);
      const ids = await sessionIds(session);
      if (isWriting) ids.push(await session.appendMessage(user("mine")));
      const kept = readFileSync(path);
      change(path);
      const before = existsSync(path) ? readFileSync(path) : undefined;
      for (const text of ["a", "b"])
        await expect(session.appendMessage(user(text))).rejects.toMatchObject({
          code: "overtaken",
        });
      expect(existsSync(path) ? readFileSync(path) : undefined).toEqual(before);
      // What was emptied is gone; all else can still be read through what is open.
      if (before?.length !== 0 && before?.length !== kept.length - 1) {
        const elsewhere = join(place, "2026-01-01T00-00-00-000Z_saved.jsonl");
        await session.saveAs(elsewhere);
        expect(readFileSync(elsewhere)).toEqual(kept);
      }
      await session.close();
      if (before) expect(readFileSync(path)).toEqual(before);
    });
  }
});

describe("two who begin a session with one id, at different times,", () => {
  // An id that looks like the name of a file is no exception.
  test.each(["same", "2026-01-01T00-00Z_same"])("do not both write it, and it is one file: %s", async (id) => {
    const place = quickScratch();
    let now = 0;
    const clock = { now: () => (now += 1_000), monotonic: () => 0, setTimer: () => () => undefined };
    const first = await SessionManager.create("/project", place, { id, clock });
    const second = await SessionManager.continueById("/project", id, place, { clock, creates: true });
    const third = await SessionManager.continueById("/project", id, place, { clock, creates: true });
    const written = await first.appendMessage(user("first"));
    await expect(second.appendMessage(user("second"))).rejects.toThrow("another part of this program writes it");
    await second.close();
    await first.close();
    await expect(third.appendMessage(user("third"))).rejects.toThrow("another process has begun it");
    await third.close();
    await expect(SessionManager.create("/project", place, { id })).rejects.toThrow("already");
    const next = await SessionManager.continueById("/project", id, place, { clock });
    expect(next.id).toBe(id);
    expect(await sessionIds(next)).toEqual([written]);
    await next.close();
    expect(readdirSync(place).filter((name) => name.endsWith(".jsonl"))).toHaveLength(1);
  });

  test("see what was written between looking for it and opening it", async () => {
    const place = quickScratch();
    let isWritten = false;
    // Looking takes its time here, so that something can happen meanwhile.
    const { statNow: _atOnce, ...slow } = nodeFileSystem;
    const fileSystem = interceptCalls(slow, async (call, args, go) => {
      if (call === "stat" && args[0] === join(place, "same.jsonl") && !isWritten) {
        isWritten = true;
        const other = await SessionManager.create("/project", place, { id: "same" });
        await other.appendMessage(user("other"));
        await other.close();
      }
      return await go();
    });
    const session = await SessionManager.continueById("/project", "same", place, { fileSystem, creates: true });
    await session.appendMessage(user("mine"));
    expect(await session.getBranch()).toHaveLength(2);
    await session.close();
    isWritten = false;
    rmSync(session.getSessionFile()!);
    await expect(SessionManager.create("/project", place, { id: "same", fileSystem })).rejects.toThrow("already");
  });
});

test("a session whose name is held by another process is not begun", async () => {
  const place = quickScratch();
  const session = await SessionManager.create("/project", place);
  const lease = await acquireLease(`${session.getSessionFile()!}.lock`);
  await expect(session.appendMessage(user("a"))).rejects.toMatchObject({ code: "overtaken" });
  expect(existsSync(session.getSessionFile()!)).toBe(false);
  await session.close();
  expect(lease.kind === "held" && (await lease.lease.isHeld())).toBe(true);
});

test("who writes in the same moment as another is not told that all is well", async () => {
  const path = join(quickScratch(), "2026-01-01T00-00-00-000Z_torture.jsonl");
  writeFileSync(path, createLog(3));
  const others = encodeLine(entry(99, 0));
  const fileSystem = interceptCalls(nodeFileSystem, async (call, args, go) => {
    if (call === "handle.write" && String(args[0]).includes('"type"')) appendFileSync(path, others);
    return await go();
  });
  const session = await SessionManager.open(path, { fileSystem });
  await expect(session.appendMessage(user("a"))).rejects.toMatchObject({ code: "overtaken" });
  await session.close();
  expect(readFileSync(path).includes(others)).toBe(true);
});
