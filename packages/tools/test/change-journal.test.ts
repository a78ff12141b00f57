/**
 * All or none, also for a process that is killed: real processes, each killed before one of its calls to the file system. With
 * `TAU_LONG=1` before every one, otherwise before a sample.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createChangeJournal, encode, parse } from "../src/changes/journal.ts";
import { markContent, type Step } from "../src/changes/step.ts";
import { thisProcess } from "../src/platform/process-mark.ts";
import { nameTemporary } from "../src/platform/temporary-name.ts";
import { quickScratch } from "./scratch.ts";

let bundleDirectory: string;
let program: string;
beforeAll(async () => {
  bundleDirectory = mkdtempSync(join(tmpdir(), "tau-changes-"));
  program = join(bundleDirectory, "change-writer.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "change-writer.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    logLevel: "silent",
  });
});
afterAll(() => rmSync(bundleDirectory, { recursive: true, force: true }));

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const before = { "a.ts": "old a", "b.ts": "old b", "c.sh": "old c", "sub/d.ts": "old d" };
const after = { "a.ts": "new a", "moved/b2.ts": "newer b", "new.ts": "fresh", "sub/d.ts": "old e" };
const changes = [
  { path: "a.ts", sha256: sha256("old a"), content: "new a" },
  { path: "b.ts", sha256: sha256("old b"), edits: [{ start: 0, end: 3, text: "newer" }] },
  { path: "b.ts", moveTo: "moved/b2.ts" },
  { path: "c.sh", sha256: sha256("old c"), remove: true },
  { path: "new.ts", content: "fresh" },
  { path: "sub/d.ts", edits: [{ start: 4, end: 5, text: "e" }] },
];

function prepare(): string {
  const directory = quickScratch();
  mkdirSync(join(directory, "work/sub"), { recursive: true });
  for (const [name, text] of Object.entries(before)) writeFileSync(join(directory, "work", name), text);
  chmodSync(join(directory, "work/c.sh"), 0o750);
  return directory;
}

const run = (directory: string, killedAt: number) =>
  spawnSync(process.execPath, [program, directory, String(killedAt), JSON.stringify(changes)], { encoding: "utf8" });

function readAll(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true });
  // A temporary file of a killed write is removed by the next one there.
  const files = names.filter((entry) => entry.isFile() && !entry.name.startsWith(".tau-"));
  const read = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return Object.fromEntries(read.map((path) => [path.slice(directory.length + 1), readFileSync(path, "utf8")]));
}

const recover = (directory: string) => createChangeJournal({ directory: join(directory, "journal") }).recover();

test("a process that is killed before any call leaves all changes or none, and nothing behind", async () => {
  const whole = prepare();
  const { stdout, stderr } = run(whole, 0);
  expect(stderr).toBe("");
  const callCount = Number(stdout);
  expect(callCount).toBeGreaterThan(50);
  expect(readAll(join(whole, "work"))).toEqual(after);
  expect(existsSync(join(whole, "journal"))).toBe(false);
  const step = process.env["TAU_LONG"] ? 1 : Math.ceil(callCount / 12);
  const states = new Set<string>();
  for (let killedAt = 1; killedAt <= callCount; killedAt += step) {
    const directory = prepare();
    expect(run(directory, killedAt).signal).toBe("SIGKILL");
    const restored = await recover(directory);
    const now = readAll(join(directory, "work"));
    const isNew = Object.keys(now).includes("new.ts");
    expect(now, `killed before call ${killedAt}`).toEqual(isNew ? after : before);
    if (!isNew) expect(statSync(join(directory, "work/c.sh")).mode & 0o777).toBe(0o750);
    expect(existsSync(join(directory, "journal"))).toBe(false);
    states.add(isNew ? "new" : restored.length > 0 ? "restored" : "old");
    rmSync(directory, { recursive: true });
  }
  expect([...states]).toEqual(expect.arrayContaining(["old", "restored"]));
}, 300_000);

test("a recovery that is itself killed is finished by the next one", async () => {
  const directory = prepare();
  // Close to the end, so that much is to be taken back.
  const callCount = Number(run(prepare(), 0).stdout);
  run(directory, callCount - 12);
  const [name] = readdirSync(join(directory, "journal"));
  const path = join(directory, "journal", name!);
  const journal = readFileSync(path);
  await recover(directory);
  // As if it had been killed before it forgot the journal, and after some of its files.
  mkdirSync(join(directory, "journal"));
  writeFileSync(path, journal);
  writeFileSync(join(directory, "work/a.ts"), "new a");
  expect(await recover(directory)).toContain(join(directory, "work/a.ts"));
  expect(readAll(join(directory, "work"))).toEqual(before);
});

/** A journal of a process that does not run. */
function plant(
  directory: string,
  steps: readonly Step[],
  mark: Partial<ReturnType<typeof thisProcess>> = { startTime: "1" },
) {
  mkdirSync(join(directory, "journal"), { recursive: true });
  const path = join(directory, "journal", nameTemporary({ ...thisProcess(), ...mark }, "id"));
  writeFileSync(path, encode(steps));
  return path;
}

const written = (path: string, old: string, fresh: string): Step => ({
  kind: "write",
  path,
  before: Buffer.from(old),
  after: markContent(Buffer.from(fresh)),
});

test("a file that was changed since, and one behind a link that was put there since, are left alone", async () => {
  const directory = prepare();
  const work = join(directory, "work");
  const outside = join(directory, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "d.ts"), "new d");
  rmSync(join(work, "sub"), { recursive: true });
  symlinkSync(outside, join(work, "sub"));
  const moved: Step = {
    kind: "move",
    path: join(work, "sub/x"),
    to: join(work, "b.ts"),
    content: markContent(Buffer.from("old b")),
  };
  plant(directory, [
    written(join(work, "a.ts"), "older a", "new a"),
    written(join(work, "sub/d.ts"), "old d", "new d"),
    moved,
  ]);
  expect(await recover(directory)).toEqual([]);
  expect(readFileSync(join(work, "a.ts"), "utf8")).toBe("old a");
  expect(readdirSync(outside)).toEqual(["d.ts"]);
  expect(readFileSync(join(outside, "d.ts"), "utf8")).toBe("new d");
});

test("the journal of a running process is not touched, nor one that was not written to its end", async () => {
  const directory = prepare();
  const path = join(directory, "work/a.ts");
  const own = plant(directory, [written(path, "older a", "old a")], {});
  expect(await recover(directory)).toEqual([]);
  expect(existsSync(own)).toBe(true);
  rmSync(own);
  const half = plant(directory, [written(path, "older a", "old a")]);
  writeFileSync(half, readFileSync(half).subarray(0, -1));
  expect(await recover(directory)).toEqual([]);
  expect(existsSync(half)).toBe(false);
  expect(readFileSync(path, "utf8")).toBe("old a");
});

test("a process that cannot be seen counts as gone after ten minutes", async () => {
  const directory = prepare();
  const path = join(directory, "work/a.ts");
  const mark = { pidNamespace: "pid:[1]", bootId: "" };
  const journal = plant(directory, [written(path, "older a", "old a")], mark);
  expect(await recover(directory)).toEqual([]);
  utimesSync(journal, 0, Date.now() / 1_000 - 601);
  expect(await recover(directory)).toEqual([path]);
  expect(readFileSync(path, "utf8")).toBe("older a");
});

test("a journal is read as it was written", () => {
  const steps: Step[] = [
    written("/a", "x\n\0y", ""),
    { kind: "write", path: "/b", before: undefined, after: markContent(Buffer.from("b")) },
    { kind: "remove", path: "/c", before: Buffer.from([0xff, 0x0a]), mode: 0o644 },
    { kind: "move", path: "/d", to: "/e", content: markContent(Buffer.from("")) },
  ];
  expect(parse(encode(steps))).toEqual(steps.map((step) => ({ before: undefined, ...step })));
  expect(parse(undefined)).toEqual([]);
  expect(parse(Buffer.from("tau-changes 1 \n[]\n"))).toEqual([]);
});
