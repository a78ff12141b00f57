/** Workspaces for tests of undo, and naive copies of them. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { onTestFinished } from "vitest";
import type { UndoTarget } from "../../src/undo/history.ts";
import { carryOut, prepareUndo } from "../../src/undo/prepare-undo.ts";
import { openProject, type Project } from "../../src/undo/project.ts";
import { Recorder } from "../../src/undo/recorder.ts";

export type StoreKind = "git" | "copies";

export interface Workspace {
  readonly cwd: string;
  readonly agentDir: string;
  readonly project: Project;
  readonly warnings: readonly string[];
  git(...args: string[]): string;
  write(path: string, text: string, mode?: number): void;
  /** Does the work as a run does: what is there is kept before and after it. */
  run(work: () => void, entryId?: string): Promise<void>;
  prepare(target?: UndoTarget): ReturnType<typeof prepareUndo>;
  /** Resolves with the conflicts. */
  undo(target?: UndoTarget): Promise<readonly string[]>;
}

export const sessionId = "session-1";
const mb = 1024 * 1024;

export function makeDirectories(): { cwd: string; agentDir: string; remove: () => void } {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-undo-")));
  const [cwd, agentDir] = [join(directory, "work"), join(directory, "agent")];
  mkdirSync(cwd);
  mkdirSync(agentDir);
  return { cwd, agentDir, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

export function runGit(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgSign=false"];
  return execFileSync("git", [...identity, ...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

export function createRepository(cwd: string): void {
  runGit(cwd, "init", "--quiet", "--initial-branch=main", "--template=", ".");
  runGit(cwd, "config", "gc.auto", "0");
}

export async function openWorkspace(kind: StoreKind, files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const { cwd, agentDir, remove } = makeDirectories();
  onTestFinished(remove);
  const write = createWriter(cwd);
  for (const [path, text] of Object.entries(files)) write(path, text);
  if (kind === "git") {
    createRepository(cwd);
    runGit(cwd, "add", "--all");
    runGit(cwd, "commit", "--quiet", "--allow-empty", "--message=first");
  }
  return await openExisting(cwd, agentDir);
}

export const createWriter =
  (cwd: string) =>
  (path: string, text: string, mode?: number): void => {
    mkdirSync(join(cwd, path, ".."), { recursive: true });
    writeFileSync(join(cwd, path), text);
    if (mode !== undefined) chmodSync(join(cwd, path), mode);
  };

/** Opens it as another process would. */
export async function openExisting(cwd: string, agentDir: string, maxFileBytes = 10 * mb): Promise<Workspace> {
  const project = await openProject({ cwd, agentDir, maxFileBytes });
  const warnings: string[] = [];
  const warn = (reason: string) => void warnings.push(reason);
  const recorder = new Recorder({ sessionId, open: async () => project, clock: systemClock, warn, log: warn });
  const prepare = (target: UndoTarget = { kind: "last" }) =>
    project.alone(() => prepareUndo(project, sessionId, target));
  let runs = 0;
  return {
    cwd,
    agentDir,
    project,
    warnings,
    git: (...args) => runGit(cwd, ...args),
    write: createWriter(cwd),
    async run(work, entryId = `entry-${++runs}`) {
      await recorder.begin({ entryId, prompt: `prompt ${entryId}` });
      work();
      await recorder.end();
    },
    prepare,
    async undo(target = { kind: "last" }) {
      return await project.alone(async () => {
        const prepared = await prepareUndo(project, sessionId, target);
        if (prepared.plan.conflicts.length === 0) await carryOut(project, sessionId, prepared);
        return prepared.plan.conflicts.map(({ path, reason }) => `${path} ${reason}`);
      });
    },
  };
}

/** Everything in a directory but `.git`, by path: a content with the right to execute it, the path of a link, or `directory` for an empty one. */
export function copyNaively(root: string, below = ""): Map<string, string> {
  const copy = new Map<string, string>();
  for (const name of readdirSync(join(root, below)).toSorted()) {
    if (name === ".git") continue;
    const path = below === "" ? name : `${below}/${name}`;
    const full = join(root, path);
    const stats = lstatSync(full);
    if (stats.isSymbolicLink()) copy.set(path, `link ${readlinkSync(full)}`);
    else if (stats.isFile()) copy.set(path, `${stats.mode & 0o100 ? "x" : "-"} ${readFileSync(full, "base64")}`);
    else if (!stats.isDirectory()) copy.set(path, "other");
    else if (readdirSync(full).length === 0) copy.set(path, "directory");
    else for (const [inner, content] of copyNaively(root, path)) copy.set(inner, content);
  }
  return copy;
}
