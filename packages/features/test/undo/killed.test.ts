/** A process that is killed while it writes leaves the workspace as before or as after. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyNaively, openExisting, openWorkspace, sessionId, type StoreKind } from "./kit.ts";

const maxPoints = process.env["TAU_LONG"] ? 200 : 6;
/** On a busy machine each point takes several seconds. */
const maxMs = maxPoints * 60_000;
let directory: string;
let program: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "tau-undo-killed-"));
  symlinkSync(join(import.meta.dirname, "../../../../node_modules"), join(directory, "node_modules"));
  program = join(directory, "program.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "killed-program.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    external: ["google-auth-library", "@silvia-odwyer/photon-node", "@vscode/ripgrep", "@napi-rs/keyring"],
    logLevel: "error",
  });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function runProgram(order: object): { isKilled: boolean; output: string } {
  const { signal, stdout, stderr } = spawnSync(process.execPath, [program, JSON.stringify(order)], {
    encoding: "utf8",
  });
  if (signal !== "SIGKILL" && !/^\d+\n$/.test(stdout)) throw new Error(`${stdout}\n${stderr}`);
  return { isKilled: signal === "SIGKILL", output: stdout.trim() };
}

/** Spread over all calls. */
function choosePoints(calls: number): number[] {
  const count = Math.min(maxPoints, calls);
  return Array.from({ length: count }, (_, index) => 1 + Math.floor((index * calls) / count));
}

/** A workspace in which a run did something of each kind, and how to bring it back to that. */
async function prepare(kind: StoreKind) {
  const workspace = await openWorkspace(kind, {
    "changed.txt": "old",
    "removed/deep/a.txt": "a",
    "removed/b.txt": "b",
    swapped: "a file",
    "tool.sh": "#!/bin/sh\n",
  });
  const { cwd, agentDir, write } = workspace;
  const before = copyNaively(cwd);
  await workspace.run(() => {
    write("changed.txt", "new");
    rmSync(join(cwd, "removed"), { recursive: true });
    unlinkSync(join(cwd, "swapped"));
    write("swapped/inner/c.txt", "c");
    write("created/d.txt", "d");
    symlinkSync("nowhere", join(cwd, "link"));
    write("tool.sh", "#!/bin/sh\n", 0o755);
  });
  const after = copyNaively(cwd);
  const kept = mkdtempSync(join(directory, "kept-"));
  for (const [name, path] of Object.entries({ cwd, agentDir }))
    cpSync(path, join(kept, name), { recursive: true, verbatimSymlinks: true });
  const restore = () => {
    for (const [name, path] of Object.entries({ cwd, agentDir })) {
      rmSync(path, { recursive: true });
      cpSync(join(kept, name), path, { recursive: true, verbatimSymlinks: true });
    }
  };
  return { cwd, agentDir, before, after, restore };
}

test.each<StoreKind>(["git", "copies"])(
  "with %s, an undo that is killed at any point leaves the files as before or as after, and can be done again",
  async (kind) => {
    const { cwd, agentDir, before, after, restore } = await prepare(kind);
    const order = { work: "undo", cwd, agentDir, sessionId };
    const calls = Number(runProgram({ ...order, killAt: -1 }).output);
    expect(copyNaively(cwd)).toEqual(before);
    expect(calls).toBeGreaterThan(40);
    const outcomes = new Set<string>();
    for (const killAt of choosePoints(calls)) {
      restore();
      expect(runProgram({ ...order, killAt }).isKilled, `call ${killAt}`).toBe(true);
      const workspace = await openExisting(cwd, agentDir);
      await workspace.project.alone(async () => undefined);
      expect(existsSync(join(workspace.project.directory, "journal.json"))).toBe(false);
      const now = copyNaively(cwd);
      const isDone = JSON.stringify([...now]) === JSON.stringify([...before]);
      expect(now, `call ${killAt}`).toEqual(isDone ? before : after);
      outcomes.add(isDone ? "as after" : "as before");
      expect(await workspace.undo({ kind: isDone ? "redo" : "last" })).toEqual([]);
      expect(copyNaively(cwd), `again after call ${killAt}`).toEqual(isDone ? after : before);
    }
    expect(outcomes).toContain("as before");
  },
  maxMs,
);

test.each<StoreKind>(["git", "copies"])(
  "with %s, a process that is killed while it keeps a state hinders nobody",
  async (kind) => {
    const { cwd, agentDir, after, restore } = await prepare(kind);
    const order = { work: "keep", cwd, agentDir, sessionId };
    writeFileSync(join(cwd, "mine.txt"), "mine");
    const calls = Number(runProgram({ ...order, killAt: -1 }).output);
    for (const killAt of choosePoints(calls)) {
      restore();
      writeFileSync(join(cwd, "mine.txt"), "mine");
      runProgram({ ...order, killAt });
      const workspace = await openExisting(cwd, agentDir);
      await workspace.run(() => workspace.write("changed.txt", `after ${killAt}`));
      expect(await workspace.undo()).toEqual([]);
      const mine = `- ${Buffer.from("mine").toString("base64")}`;
      expect(copyNaively(cwd)).toEqual(new Map(after).set("mine.txt", mine));
      expect(workspace.warnings).toEqual([]);
    }
  },
  maxMs,
);
