/** Directories, an environment for npm and git, and repositories. Nothing of the user who runs the tests is read. */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { fetchPackage, type FetchedPackage } from "../../src/installs/fetch-package.ts";
import { parseSource } from "../../src/installs/package-source.ts";
import type { PackageScope } from "../../src/installs/package-resources.ts";
import { getPathWithNpm } from "./cached-npm.ts";
import { type Registry, startRegistry } from "./registry.ts";

export interface Workspace {
  root: string;
  cwd: string;
  agentDir: string;
  env: Record<string, string>;
}

export async function createWorkspace(): Promise<Workspace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tau-packages-")));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  const cwd = join(root, "project");
  await mkdir(cwd);
  const env = {
    PATH: getPathWithNpm(),
    HOME: root,
    npm_config_cache: join(root, "npm-cache"),
    npm_config_fetch_retries: "0",
    npm_config_userconfig: join(root, "npmrc"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  return { root, cwd, agentDir: join(root, "tau"), env };
}

export async function createNpmWorkspace(): Promise<Workspace & { registry: Registry }> {
  const [workspace, registry] = await Promise.all([createWorkspace(), startRegistry()]);
  return { ...workspace, registry, env: { ...workspace.env, npm_config_registry: registry.url } };
}

export interface TestFetch {
  scope?: PackageScope;
  asLocked?: boolean;
  before?: Date;
  signal?: AbortSignal;
  maxDownloadBytes?: number;
}

export function fetch(workspace: Workspace, text: string, options: TestFetch = {}): Promise<FetchedPackage> {
  const { scope = "user", before, signal = new AbortController().signal, ...rest } = options;
  const source = parseSource(text, workspace.cwd);
  if (source.kind === "invalid") throw new Error(source.message);
  return fetchPackage(source, { ...workspace, scope, text, before, signal, ...rest });
}

export async function install(workspace: Workspace, text: string, options: TestFetch = {}): Promise<string> {
  return await (await fetch(workspace, text, options)).enable();
}

export async function writeFiles(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
}

/** All files and links below a directory, sorted. */
export async function listAll(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

export interface Repository {
  /** The address of the bare repository. */
  url: string;
  /** The working copy. */
  directory: string;
  git: (...args: string[]) => string;
  /** Commits all files and pushes; returns the commit. */
  commit: (files: Readonly<Record<string, string>>) => Promise<string>;
}

export async function createRepository(workspace: Workspace): Promise<Repository> {
  const bare = join(workspace.root, "remote", "pack.git");
  const directory = join(workspace.root, "work");
  await mkdir(bare, { recursive: true });
  await mkdir(directory);
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
  const git = (...args: string[]) =>
    execFileSync("git", [...identity, ...args], { cwd: directory, env: workspace.env, stdio: "pipe" })
      .toString()
      .trim();
  git("init", "--quiet", "--bare", bare);
  git("init", "--quiet");
  git("remote", "add", "origin", bare);
  const commit = async (files: Readonly<Record<string, string>>) => {
    await writeFiles(directory, files);
    git("add", "--all");
    git("commit", "--quiet", "--message", "change");
    git("push", "--quiet", "origin", "HEAD:main");
    return git("rev-parse", "HEAD");
  };
  return { url: `git:file://${bare}`, directory, git, commit };
}
