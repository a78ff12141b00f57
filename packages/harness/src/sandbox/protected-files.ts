/**
 * Keeps the protected names of a project as they are. Those that exist are mounted read-only by the sandbox. Those that are
 * missing cannot be: a mount needs something to be mounted on, and that would stay in the project. So they are compared
 * before and after a command, and what appeared is set aside. The same holds for symbolic links, which cannot be mounted.
 */
import { symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { DirectoryStamps } from "./directory-stamps.ts";
import { findGitDirectories, type GitDirectories } from "./git-directories.ts";
import { findRealPath, listNames, lookAtPath, readLink } from "./look.ts";
import { protectedHomeNames, protectedNames } from "./protected-names.ts";
import type { SetAside, SetAsideOutcome } from "./set-aside.ts";
import { WatchedConfig } from "./watched-config.ts";

type NameState = { readonly kind: "missing" | "present" } | { readonly kind: "link"; readonly target: string };

export interface ProtectedFilesOptions {
  readonly workspace: string;
  readonly home: string;
  readonly setAside: SetAside;
}

/** What the sandbox has to mount: real paths. */
export interface ProtectedPaths {
  readonly readOnly: readonly string[];
  /** Directories that may be changed, but not renamed. */
  readonly pinned: readonly string[];
  /** Git directories outside the workspace that commands may change. */
  readonly outside: readonly string[];
}

const gitNames = ["hooks", "commondir"];
const gitConfigs = ["config", "config.worktree"];

export class ProtectedFiles {
  readonly #options: ProtectedFilesOptions;
  readonly #names: readonly string[];
  readonly #states = new Map<string, NameState>();
  /** What links in the protected trees lead to. */
  readonly #targets = new Map<string, readonly string[]>();
  /** The names that are compared, by the directories that they are in. */
  readonly #byDirectory = new Map<string, readonly string[]>();
  readonly #stamps = new DirectoryStamps();
  #paths: ProtectedPaths | undefined;
  #configs: WatchedConfig[] = [];
  #git: GitDirectories = { directories: [], links: [], hooks: [], others: [] };

  constructor(options: ProtectedFilesOptions) {
    const { workspace, home } = options;
    this.#options = options;
    const homeNames = isWithin(workspace, home) ? [...protectedHomeNames, ...protectedNames] : [];
    this.#names = [
      ...new Set([
        ...protectedNames.map((name) => join(workspace, name)),
        ...homeNames.map((name) => join(home, name)),
      ]),
    ];
    this.#readGit();
  }

  /** Takes everything as it is. Must not be called while a command runs. */
  refresh(): void {
    const isStale = this.#git.directories.some((path) => !lookAtPath(path));
    if (isStale || this.#isGitNew()) return this.#readGit();
    for (const path of this.#takeChangedNames()) this.#refreshState(path);
    for (const config of this.#configs) config.refresh();
  }

  /** The same object as before while nothing has changed. */
  getPaths(): ProtectedPaths {
    return (this.#paths ??= this.#findPaths());
  }

  #findPaths(): ProtectedPaths {
    const { workspace } = this.#options;
    const { directories, links, hooks, others } = this.#git;
    const isInside = (path: string) => path !== workspace && isWithin(workspace, path);
    const existing = [...this.#states].flatMap(([path, { kind }]) => {
      if (kind === "missing" || directories.includes(path)) return [];
      // A link itself is compared. What links lead to must not be changed through them.
      return [...(kind === "present" ? [path] : []), ...this.#findTargets(path).filter(isInside)];
    });
    return {
      readOnly: [...new Set([...existing, ...links, ...hooks, ...others])],
      pinned: directories,
      outside: directories.filter((path) => !isWithin(workspace, path)),
    };
  }

  /** Compares with what was there before, and puts it right. Answers with sentences for the model. */
  check(): string[] {
    const notices: string[] = [];
    const { workspace, setAside } = this.#options;
    const nameOf = (path: string) => (isWithin(workspace, path) ? relative(workspace, path) : path);
    const putAside = (path: string) => void notices.push(describeSetAside(nameOf(path), setAside(path)));
    if (this.#isGitNew()) this.#adoptGit(putAside);
    for (const path of this.#takeChangedNames()) {
      const before = this.#states.get(path) ?? { kind: "missing" };
      if (before.kind === "present") continue;
      const now = getState(path);
      if (now.kind === before.kind && (now.kind !== "link" || now.target === (before as typeof now).target)) continue;
      if (now.kind !== "missing") putAside(path);
      if (before.kind === "link" && getState(path).kind === "missing") symlinkSync(before.target, path);
    }
    for (const config of this.#configs) {
      const keys = config.check(setAside);
      if (keys.length > 0) notices.push(describeUndone(nameOf(config.path), keys));
    }
    return notices;
  }

  /** Read once: commands cannot change what is protected. */
  #findTargets(path: string): readonly string[] {
    const known = this.#targets.get(path);
    if (known) return known;
    const targets = findLinkTargets(path);
    this.#targets.set(path, targets);
    return targets;
  }

  get #dotGit(): string {
    return join(this.#options.workspace, ".git");
  }

  /** The names in directories in which something has changed since the last call. */
  #takeChangedNames(): string[] {
    const changed = [...this.#byDirectory].filter(([directory]) => !this.#stamps.isUnchanged(directory));
    for (const [directory] of changed) this.#stamps.remember(directory);
    return changed.flatMap(([, paths]) => paths);
  }

  #refreshState(path: string): void {
    const [before, now] = [this.#states.get(path), getState(path)];
    if (before?.kind === now.kind && now.kind !== "link") return;
    this.#targets.delete(path);
    this.#states.set(path, now);
    this.#paths = undefined;
  }

  #readGit(): void {
    this.#paths = undefined;
    this.#targets.clear();
    const { workspace } = this.#options;
    this.#git = findGitDirectories(workspace);
    this.#configs = this.#git.directories.flatMap((directory) =>
      gitConfigs.map((name) => new WatchedConfig(join(directory, name))),
    );
    const inGit = this.#git.directories.flatMap((directory) => gitNames.map((name) => join(directory, name)));
    this.#byDirectory.clear();
    for (const path of [...this.#names, this.#dotGit, ...inGit]) {
      this.#byDirectory.set(dirname(path), [...(this.#byDirectory.get(dirname(path)) ?? []), path]);
    }
    for (const [directory, paths] of this.#byDirectory) {
      this.#stamps.remember(directory);
      for (const path of paths) this.#states.set(path, getState(path));
    }
  }

  /** Whether the workspace has become a repository. */
  #isGitNew(): boolean {
    return this.#states.get(this.#dotGit)?.kind === "missing" && lookAtPath(this.#dotGit) !== undefined;
  }

  /** A repository that a command has made: without what git would run. */
  #adoptGit(putAside: (path: string) => void): void {
    const path = this.#dotGit;
    if (!lookAtPath(path)?.isDirectory()) return putAside(path);
    const hooks = join(path, "hooks");
    const planted = lookAtPath(hooks)?.isDirectory()
      ? listNames(hooks).filter((name) => !name.endsWith(".sample"))
      : [];
    for (const name of planted) putAside(join(hooks, name));
    if (lookAtPath(hooks) && !lookAtPath(hooks)!.isDirectory()) putAside(hooks);
    for (const name of ["commondir", "config.worktree"]) if (lookAtPath(join(path, name))) putAside(join(path, name));
    this.#readGit();
    const config = join(path, "config");
    this.#configs = this.#configs.filter((known) => known.path !== config);
    this.#configs.push(WatchedConfig.createMissing(config));
  }
}

const maxLinkLooks = 500;

/** The real paths that symbolic links at a path or below it lead to. */
function findLinkTargets(path: string): string[] {
  const targets: string[] = [];
  const pending = [path];
  for (let looks = 0; pending.length > 0 && looks < maxLinkLooks; looks++) {
    const next = pending.pop()!;
    const stats = lookAtPath(next);
    if (stats?.isSymbolicLink()) targets.push(...[findRealPath(next)].filter((target) => target !== undefined));
    else if (stats?.isDirectory()) pending.push(...listNames(next).map((name) => join(next, name)));
  }
  return targets;
}

function getState(path: string): NameState {
  const stats = lookAtPath(path);
  if (!stats) return { kind: "missing" };
  if (!stats.isSymbolicLink()) return { kind: "present" };
  return { kind: "link", target: readLink(path) ?? "" };
}

function describeSetAside(name: string, outcome: SetAsideOutcome): string {
  const what = `[The sandbox protects ${name}: programs outside would run it.`;
  switch (outcome.kind) {
    case "kept":
      return `${what} What the command put there is now in ${outcome.path}. Ask the user to put it in place.]`;
    case "removed":
      return `${what} What the command put there was removed; it could not be kept (${outcome.reason}).]`;
    case "failed":
      return `${what} What the command put there could not be removed (${outcome.reason}). Tell the user.]`;
  }
}

const describeUndone = (name: string, keys: readonly string[]): string =>
  `[The sandbox undid changes of ${name}: ${keys.join(", ")}. Commands can change user.*, branch.*, remote.*.url and remote.*.fetch; ask the user for the others.]`;
