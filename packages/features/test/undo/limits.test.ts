/** How much is kept, and that what is kept without writing git's index is the same as with it. */
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { openProject } from "../../src/undo/project.ts";
import { Recorder } from "../../src/undo/recorder.ts";
import { openExisting, openWorkspace, sessionId, type StoreKind } from "./kit.ts";

const kb = 1024;

/** A workspace of which at most 2 MB are kept. */
async function openLimited(kind: StoreKind) {
  const { cwd, agentDir } = await openWorkspace(kind, { "a.txt": "a" });
  const clock = createFakeClock();
  const project = await openProject({ cwd, agentDir, maxFileBytes: 1024 * kb, maxBytes: 2048 * kb, clock });
  const warnings: string[] = [];
  const warn = (reason: string) => void warnings.push(reason);
  const recorder = new Recorder({ sessionId, open: async () => project, clock, warn, log: warn });
  let runs = 0;
  const run = async (path: string, size: number) => {
    await clock.advance(1_000);
    await recorder.begin({ entryId: `entry-${++runs}`, prompt: `prompt ${runs}` });
    writeFileSync(join(cwd, path), randomBytes(size));
    await recorder.end();
  };
  return { cwd, agentDir, project, warnings, run };
}

test.each<StoreKind>(["git", "copies"])(
  "with %s, no more is kept than the limit of a project, and the oldest goes first",
  async (kind) => {
    const { cwd, agentDir, project, warnings, run } = await openLimited(kind);
    for (let round = 0; round < 12; round++) {
      await run("large.bin", 400 * kb);
      expect(await project.store.getBytes()).toBeLessThanOrEqual(2048 * kb);
    }
    expect(warnings).toEqual([]);
    const [{ effects } = { effects: [] }] = await project.listHistories();
    expect(effects.at(-1)).toMatchObject({ prompt: "prompt 12" });
    expect(effects.length).toBeLessThan(6);
    expect(effects.map(({ prompt }) => prompt)).not.toContain("prompt 1");
    const before = readFileSync(join(cwd, "large.bin"));
    const workspace = await openExisting(cwd, agentDir);
    for (const _ of effects) expect(await workspace.undo()).toEqual([]);
    expect(readFileSync(join(cwd, "large.bin"))).not.toEqual(before);
    expect((await workspace.prepare()).chosen).toEqual([]);
  },
);

test.each<StoreKind>(["git", "copies"])(
  "with %s, files that take more than the limit by themselves are not kept, and that is said",
  async (kind) => {
    const { project, warnings, run } = await openLimited(kind);
    for (let file = 0; file < 7; file++) await run(`large-${file}.bin`, 400 * kb);
    expect(warnings).toContain("the files that have to be kept take more than 2 MB");
    expect(await project.store.getBytes()).toBeLessThanOrEqual(2048 * kb);
  },
);

test("a file that git ignores by now, and one that is as it was, are what they are", async () => {
  const workspace = await openWorkspace("git", { "a.txt": "a", "b.txt": "b" });
  const { cwd, write } = workspace;
  await workspace.run(() => write("new.log", "one"));
  await workspace.run(() => write("a.txt", "changed"));
  await workspace.run(() => {
    write(".gitignore", "*.log\n");
    write("a.txt", "a");
    unlinkSync(join(cwd, "b.txt"));
  });
  expect((await workspace.prepare()).plan.changes.map(({ path }) => path)).toEqual([".gitignore", "a.txt", "b.txt"]);
  await workspace.run(() => write("new.log", "two"));
  expect(await workspace.undo()).toEqual([]);
  expect(readFileSync(join(cwd, "new.log"), "utf8")).toBe("one");
  for (let runs = 0; runs < 3; runs++) expect(await workspace.undo()).toEqual([]);
  expect(workspace.git("status", "--porcelain")).toBe("");
});

test("a file that becomes a directory and back is kept, also where the index was not written for it", async () => {
  const workspace = await openWorkspace("git", { "a.txt": "a" });
  const { cwd, write } = workspace;
  await workspace.run(() => write("x", "a file"));
  await workspace.run(() => {
    rmSync(join(cwd, "x"));
    write("x/y/z.txt", "inside");
  });
  await workspace.run(() => {
    rmSync(join(cwd, "x"), { recursive: true });
    write("x", "again");
  });
  expect(await workspace.undo()).toEqual([]);
  expect(readFileSync(join(cwd, "x/y/z.txt"), "utf8")).toBe("inside");
  expect(await workspace.undo()).toEqual([]);
  expect(readFileSync(join(cwd, "x"), "utf8")).toBe("a file");
  expect(await workspace.undo()).toEqual([]);
  expect(workspace.git("status", "--porcelain")).toBe("");
});

test("a process that was killed after it wrote the index has not lost what it had found", async () => {
  const workspace = await openWorkspace("git", { "a.txt": "a" });
  const { cwd, project, write } = workspace;
  const keep = () => project.alone(async () => (await project.store.keep()).id);
  const first = await keep();
  const headPath = join(project.directory, "head.json");
  const head = readFileSync(headPath);
  // Written into the index: it is in a directory of its own.
  write("mine/new.txt", "new");
  const second = await keep();
  writeFileSync(headPath, head);
  expect(await keep()).toBe(second);
  expect((await project.store.compare(first, second)).changes.map(({ path }) => path)).toEqual(["mine/new.txt"]);
  expect(readFileSync(join(cwd, "mine/new.txt"), "utf8")).toBe("new");
});
