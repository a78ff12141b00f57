/** Whenever a process is killed, its worktrees without changes are swept, and changes survive. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WorktreeManager } from "../../src/agents/index.ts";
import { hasRecords } from "../../src/agents/worktrees/directory.ts";
import { openIsolated } from "../../src/agents/worktrees/isolated.ts";
import { listRecords } from "../../src/agents/worktrees/records.ts";
import { sweepWorktrees } from "../../src/agents/worktrees/sweep.ts";
import { createRepository, type TestRepository } from "./kit.ts";

let directory: string;
let program: string;

/** Builds the program that works in three directories of a repository, and says what it has done. */
beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "tau-sweep-")));
  program = join(directory, "worker.mjs");
  await symlink(join(import.meta.dirname, "../../../../node_modules"), join(directory, "node_modules"));
  const contents = `
    import { writeFileSync } from "node:fs";
    import { join } from "node:path";
    import { openIsolated, WorktreeManager } from "../../src/agents/index.ts";
    const [cwd, worked] = process.argv.slice(2);
    const clean = await openIsolated({ cwd, id: "clean" });
    const changed = await openIsolated({ cwd, id: "changed" });
    writeFileSync(join(changed.cwd, "a.txt"), "work");
    writeFileSync(worked, "");
    const worktree = await new WorktreeManager({ repoPath: cwd }).create("worktree");
    await clean.finish();
    await changed.finish();
    await worktree.dispose();
  `;
  await build({
    stdin: { resolveDir: import.meta.dirname, loader: "ts", contents },
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    external: ["google-auth-library", "@silvia-odwyer/photon-node", "@vscode/ripgrep", "@napi-rs/keyring"],
    logLevel: "error",
  });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs the program with a git that kills it when it is started for the nth time. */
async function runUntilGit(repository: TestRepository, worked: string, count: number): Promise<"killed" | "ended"> {
  const bin = join(repository.root, "bin");
  await mkdir(bin);
  const counter = join(repository.root, "count");
  const real = process.env["PATH"]!;
  await writeFile(
    join(bin, "git"),
    `#!/bin/sh
echo >> '${counter}'
if [ "$(wc -l < '${counter}')" -eq ${count} ]; then kill -9 $PPID; exit 1; fi
PATH='${real}' exec git "$@"
`,
  );
  await chmod(join(bin, "git"), 0o755);
  const child = spawn(process.execPath, [program, repository.top, worked], {
    env: { ...process.env, PATH: `${bin}:${real}` },
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [, signal] = (await once(child, "exit")) as [number | null, string | null];
  return signal === "SIGKILL" ? "killed" : "ended";
}

const allPoints = Array.from({ length: 50 }, (_, index) => index + 1);
const points = process.env["TAU_LONG"] ? allPoints : [3, 8, 12, 20, 28, 36];

test.each(points)("after a kill at the start of git number %i", { timeout: 120_000 }, async (count) => {
  const repository = await createRepository();
  const worked = join(repository.root, "worked");
  const end = await runUntilGit(repository, worked, count);
  const hasWorked = existsSync(worked);
  await sweepWorktrees(repository.fanout);
  const records = await listRecords(repository.fanout);
  expect(records.map(({ name, state }) => `${name} ${state}`)).toEqual(hasWorked ? ["changed kept"] : []);
  expect(repository.branches()).toEqual(["main", ...records.map(({ branch }) => branch)]);
  expect(repository.git("worktree", "list").trim().split("\n")).toHaveLength(1);
  if (hasWorked) expect(repository.git("show", `${records[0]!.branch}:a.txt`)).toBe("work");
  else expect(repository.left()).toEqual([]);
  expect(repository.left().filter((name) => ![".tau-worktrees", "changed"].includes(name))).toEqual([]);
  repository.git("fsck", "--strict", "--connectivity-only");
  expect(repository.git("status", "--porcelain")).toBe("");
  expect(await sweepWorktrees(repository.fanout)).toEqual({ removed: [], kept: [], problems: [] });
  if (end === "ended") expect(hasWorked).toBe(true);
});

test("worktrees of a running process are left alone, and without any a single look is enough", async () => {
  const repository = await createRepository();
  expect(hasRecords(repository.fanout)).toBe(false);
  const isolated = await openIsolated({ cwd: repository.top, id: "busy" });
  expect(hasRecords(repository.fanout)).toBe(true);
  expect(await sweepWorktrees(repository.fanout)).toEqual({ removed: [], kept: [], problems: [] });
  expect(existsSync(isolated.cwd)).toBe(true);
  await isolated.discard();
  expect(hasRecords(repository.fanout)).toBe(false);
});

test("a kept worktree and a branch of a result are not swept", async () => {
  const repository = await createRepository();
  const kept = await new WorktreeManager({ repoPath: repository.top }).create("kept");
  kept.keep();
  await kept.dispose();
  const isolated = await openIsolated({ cwd: repository.top, id: "result" });
  await writeFile(join(isolated.cwd, "a.txt"), "result");
  await isolated.finish();
  expect(await sweepWorktrees(repository.fanout)).toEqual({ removed: [], kept: [], problems: [] });
  expect(readdirSync(repository.fanout).sort()).toEqual([".tau-worktrees", "kept"]);
  expect(repository.branches()).toHaveLength(3);
  expect(readFileSync(join(kept.path, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
});
