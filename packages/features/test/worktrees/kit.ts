/** Real repositories for tests of worktrees. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AccessRequest } from "@tau/tools";
import { onTestFinished, vi } from "vitest";

export const identity = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
};

export interface TestRepository {
  /** A directory for anything else. */
  root: string;
  top: string;
  /** Where worktrees are made. */
  fanout: string;
  git(...args: string[]): string;
  gitIn(cwd: string, ...args: string[]): string;
  write(path: string, content: string): Promise<void>;
  /** Lists the names that are left where worktrees are made. */
  left(): string[];
  branches(): string[];
}

/** A repository with `a.txt` and `src/b.txt` in a commit. Worktrees are made beside it. */
export async function createRepository(options: { initArgs?: string[] } = {}): Promise<TestRepository> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-worktrees-")));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  const [top, fanout] = [join(root, "repository"), join(root, "fanout")];
  await mkdir(top);
  vi.stubEnv("PI_FANOUT_DIR", fanout);
  vi.stubEnv("HOME", root);
  onTestFinished(() => void vi.unstubAllEnvs());
  const gitIn = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, env: { PATH: process.env["PATH"], HOME: root, ...identity }, encoding: "utf8" });
  const git = (...args: string[]) => gitIn(top, ...args);
  const write = async (path: string, content: string) => {
    await mkdir(dirname(join(top, path)), { recursive: true });
    await writeFile(join(top, path), content);
  };
  git("init", "--quiet", "--initial-branch=main", ...(options.initArgs ?? []));
  await write("a.txt", "one\ntwo\nthree\n");
  await write("src/b.txt", "b\n");
  await write(".gitignore", "ignored\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "First");
  return {
    root,
    top,
    fanout,
    git,
    gitIn,
    write,
    left: () => (existsSync(fanout) ? readdirSync(fanout) : []),
    branches: () => git("branch", "--format=%(refname:short)").split("\n").filter(Boolean),
  };
}

/** Allows everything, and remembers what was asked for. */
export function createTau(verdict: "allowed" | "denied" = "allowed") {
  const asked: string[] = [];
  return {
    asked,
    getSettings: () => ({}) as never,
    requestAccess: async (access: readonly AccessRequest[]) => {
      asked.push(...access.map(({ target }) => (target.kind === "path" ? target.path : "")));
      return verdict === "allowed" ? { kind: "allowed" as const } : { kind: "denied" as const, reason: "Not here." };
    },
  };
}
