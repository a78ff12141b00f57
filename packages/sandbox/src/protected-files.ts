/**
 * Keeps the protected names of a project as they are. Those that exist are mounted read-only by the sandbox. Those that are
 * missing cannot be: a mount needs something to be mounted on, and that would stay in the project. So they are compared
 * before and after a command, and what appeared is set aside. The same holds for symbolic links, which cannot be mounted.
 */
import { symlinkSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import { isWithin, systemCode } from "@tau/tools/platform";
import { DirectoryStamps } from "./directory-stamps.ts";
import { findGitDirectories, followLink, type GitDirectories } from "./git/directories.ts";
import { giveOwnerRights, inHeldDirectory, makeReadable } from "./held-directory.ts";
import { findRealPath, listNames, lookAtPath } from "./look.ts";
import { findLinkTargets, getState, isSameState, type NameState } from "./name-state.ts";
import { hasProtectedSuffix, protectedHomeNames, protectedNames } from "./protected-names.ts";
import { comparedNames, configNames } from "./git/what-git-runs.ts";
import { RepositorySearch } from "./git/repository-search.ts";
import type { SetAside, SetAsideOutcome } from "./set-aside.ts";
import { WatchedConfig } from "./git/watched-config.ts";

interface ProtectedFilesOptions {
  /** The workspace, or another directory that commands may change. */
  readonly workspace: string;
  /** Paths in it are shown to the model without it. */
  readonly shownFrom: string;
  readonly home: string;
  /** Where the program that we are part of keeps compiled code, in `tau`. Default: `XDG_CACHE_HOME`, if that is set. */
  readonly cacheHome?: string;
  readonly setAside: SetAside;
  /** All directories that commands may change: real paths. */
  readonly getWritable: () => readonly string[];
}

/** The real paths that the sandbox has to mount. */
export interface ProtectedPaths {
  readonly readOnly: readonly string[];
  /** Directories that may be changed, but not renamed. */
  readonly pinned: readonly string[];
  /** Git directories outside the workspace that commands may change. */
  readonly outside: readonly string[];
}

export class ProtectedFiles {
  readonly #options: ProtectedFilesOptions;
  readonly #names: readonly string[];
  readonly #states = new Map<string, NameState>();
  /** The targets of links in the protected trees. */
  readonly #targets = new Map<string, readonly string[]>();
  /** The names that are compared, by the directories that they are in. */
  readonly #byDirectory = new Map<string, readonly string[]>();
  /** The directories between the workspace and protected names. They may come and go, but not as links. */
  readonly #parents = new Set<string>();
  /** All directories on the way to something that is compared, shorter paths first. */
  #leading: readonly string[] = [];
  readonly #stamps = new DirectoryStamps();
  readonly #search: RepositorySearch;
  /** Git directories that commands have made since nothing ran. */
  readonly #made = new Set<string>();
  #isBare = false;
  #paths: ProtectedPaths | undefined;
  #configs: WatchedConfig[] = [];
  #git: GitDirectories = { directories: [], links: [], named: [], others: [] };

  constructor(options: ProtectedFilesOptions) {
    const { workspace, home, cacheHome = process.env["XDG_CACHE_HOME"] } = options;
    this.#options = options;
    // The workspace may be the home directory, one above it, or one in it with such names, as `~/.config` is.
    const atHome = [...protectedHomeNames, ...protectedNames].map((name) => join(home, name));
    if (cacheHome) atHome.push(join(cacheHome, "tau"));
    const isInside = (path: string) => path !== workspace && isWithin(workspace, path);
    this.#names = [...new Set([...protectedNames.map((name) => join(workspace, name)), ...atHome.filter(isInside)])];
    this.#search = new RepositorySearch(workspace);
    this.#readGit();
  }

  /** Takes everything as it is. Must not be called while a command runs. */
  refresh(): void {
    const isNew = this.#search.findNew().length + this.#made.size > 0;
    this.#search.acceptUnread();
    this.#made.clear();
    const isStale = this.#git.directories.some((path) => !lookAtPath(path));
    if (isNew || isStale || this.#isGitNew()) return this.#readGit();
    for (const path of this.#takeChangedNames()) this.#refreshState(path);
    this.#isBare = isGitDirectory(this.#options.workspace);
    for (const config of this.#configs) config.refresh();
  }

  /** Returns the object of the last call while nothing has changed. */
  getPaths(): ProtectedPaths {
    return (this.#paths ??= this.#findPaths());
  }

  #findPaths(): ProtectedPaths {
    const { workspace } = this.#options;
    const { directories, links, others } = this.#git;
    const isInside = (path: string) => path !== workspace && isWithin(workspace, path);
    const existing = [...this.#states].flatMap(([path, { kind }]) => {
      if (kind === "missing" || directories.includes(path) || this.#parents.has(path)) return [];
      // A link itself is compared. What links lead to must not be changed through them.
      return [...(kind === "present" ? [path] : []), ...this.#findTargets(path).filter(isInside)];
    });
    return {
      readOnly: [...new Set([...existing, ...links, ...others])],
      pinned: directories,
      outside: directories.filter((path) => !isWithin(workspace, path)),
    };
  }

  /**
   * Compares with what was there before, and puts it right. Answers with sentences for the model. Repositories below are
   * looked for only at the end of a command: programs make and remove them while they run, such as tests.
   */
  check({ isEnd = true } = {}): string[] {
    const notices: string[] = [];
    const putAside = (path: string) => void notices.push(...this.#putAside(path));
    for (const directory of this.#leading) makeReadable(directory);
    if (isEnd) this.#adoptRepositories(putAside);
    for (const path of this.#takeChangedNames()) notices.push(...this.#compare(path, putAside));
    if (!this.#isBare && isGitDirectory(this.#options.workspace)) putAside(join(this.#options.workspace, "HEAD"));
    if (this.#isGitNew()) this.#adoptGit(putAside);
    for (const config of this.#configs) {
      const keys = config.check(putAside);
      if (keys.length > 0) notices.push(describeUndone(this.#getName(config.path), keys));
    }
    return notices;
  }

  /** Sentences about links that could not be put back. */
  #compare(path: string, putAside: (path: string) => void): string[] {
    const before = this.#states.get(path) ?? { kind: "missing" };
    const now = getState(path);
    const isAdopted = path === this.#dotGit && before.kind === "missing";
    if (isAdopted || isSameState(before, now)) return [];
    if (this.#parents.has(path) ? before.kind !== "link" && now.kind !== "link" : before.kind === "present") return [];
    if (now.kind !== "missing") putAside(path);
    if (before.kind !== "link" || getState(path).kind !== "missing") return [];
    const failure = inHeldDirectory(this.#toRealParent(path), (held) => tryToLink(before.target, held));
    return failure === undefined ? [] : [describeLostLink(this.#getName(path), before.target, failure)];
  }

  /** Nothing for what a link shows from elsewhere: commands could not put it there. */
  #putAside(path: string): string[] {
    const { workspace, setAside } = this.#options;
    const real = this.#toRealParent(path);
    const roots = [workspace, ...this.#git.directories];
    if (!roots.some((root) => isWithin(root, dirname(real)))) return [];
    return [describeSetAside(this.#getName(path), setAside(real))];
  }

  /**
   * Whether commands may have made what a path in the configuration of a git directory leads to. Git begins relative ones in
   * the work tree, which is known only for the workspace itself.
   */
  #isPlanted(directory: string, path: string): boolean {
    const { workspace, getWritable } = this.#options;
    if (directory !== this.#dotGit && !isAbsolute(path)) return true;
    const full = resolve(workspace, path);
    const real = findRealPath(full) ?? full;
    return getWritable().some((root) => isWithin(root, real) || isWithin(root, full));
  }

  #getName(path: string): string {
    const { shownFrom } = this.#options;
    return isWithin(shownFrom, path) ? relative(shownFrom, path) : path;
  }

  #toRealParent(path: string): string {
    return join(findRealPath(dirname(path)) ?? dirname(path), basename(path));
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
    const isWorkspace = changed.some(([directory]) => directory === this.#options.workspace);
    return [...changed.flatMap(([, paths]) => paths), ...(isWorkspace ? this.#listBySuffix() : [])];
  }

  /** Lists the names of the workspace, now and before, that are protected by their ends. */
  #listBySuffix(): string[] {
    const { workspace } = this.#options;
    const known = [...this.#states.keys()].filter((path) => dirname(path) === workspace);
    const all = new Set([...listNames(workspace).map((name) => join(workspace, name)), ...known]);
    return [...all].filter((path) => hasProtectedSuffix(basename(path)));
  }

  #refreshState(path: string): void {
    const [before, now] = [this.#states.get(path), getState(path)];
    if (before?.kind === now.kind && now.kind !== "link") return;
    this.#targets.delete(path);
    this.#states.set(path, now);
    this.#paths = undefined;
  }

  /** With `keepsStates`, only names that were not known before are taken as they are. */
  #readGit({ keepsStates = false } = {}): void {
    this.#paths = undefined;
    this.#targets.clear();
    const { workspace, home } = this.#options;
    this.#git = findGitDirectories(workspace, home, this.#search.list());
    this.#configs = this.#git.directories.flatMap((directory) =>
      configNames.map((name) => new WatchedConfig(join(directory, name), this.#isPlanted.bind(this, directory))),
    );
    const inGit = this.#git.directories.flatMap((directory) => comparedNames.map((name) => join(directory, name)));
    const names = [...this.#names, ...this.#git.named];
    this.#parents.clear();
    for (const parent of names.flatMap((name) => listParents(name, workspace))) this.#parents.add(parent);
    this.#byDirectory.clear();
    // Parents first: a link is taken away before what it shows is compared.
    for (const path of [...this.#parents, ...names, this.#dotGit, ...inGit]) {
      this.#byDirectory.set(dirname(path), [...(this.#byDirectory.get(dirname(path)) ?? []), path]);
    }
    this.#leading = listLeading(
      [...this.#byDirectory.keys(), ...this.#git.directories],
      [workspace, ...this.#git.directories],
    );
    for (const [directory, paths] of this.#byDirectory) {
      const taken = keepsStates ? paths.filter((path) => !this.#states.has(path)) : paths;
      if (taken.length > 0) this.#stamps.remember(directory);
      for (const path of taken) this.#states.set(path, getState(path));
    }
    if (keepsStates) return;
    for (const path of this.#listBySuffix()) this.#states.set(path, getState(path));
    this.#isBare = isGitDirectory(workspace);
  }

  /** Adopts the repositories below the workspace. */
  #adoptRepositories(putAside: (path: string) => void): void {
    for (const path of this.#search.findNew()) {
      const stats = lookAtPath(path);
      const [directory, worktree] = stats?.isDirectory() ? [path] : stats?.isFile() ? followLink(path) : [];
      if (directory === undefined) putAside(path);
      else if (!this.#git.directories.includes(directory)) this.#made.add(directory);
      // Its other files were compared with those of its repository.
      const config = worktree === undefined ? undefined : join(worktree, "config.worktree");
      if (config !== undefined && lookAtPath(config)) putAside(config);
    }
    for (const path of this.#search.listUnread()) putAside(path);
    for (const directory of this.#made) {
      clean(directory, putAside);
      this.#configs = this.#configs.filter(({ path }) => dirname(path) !== directory);
      this.#configs.push(WatchedConfig.createMissing(join(directory, "config"), this.#isPlanted.bind(this, directory)));
    }
  }

  /** Whether the workspace has become a repository. */
  #isGitNew(): boolean {
    return this.#states.get(this.#dotGit)?.kind === "missing" && lookAtPath(this.#dotGit) !== undefined;
  }

  /**
   * A repository that a command has made: without what git would run. It counts as new until nothing runs any more, since
   * the command that made it can still change all of it.
   */
  #adoptGit(putAside: (path: string) => void): void {
    const path = this.#dotGit;
    if (!lookAtPath(path)?.isDirectory()) return putAside(path);
    clean(path, putAside);
    this.#readGit({ keepsStates: true });
    const config = join(path, "config");
    this.#configs = this.#configs.filter((known) => known.path !== config);
    this.#configs.push(WatchedConfig.createMissing(config, this.#isPlanted.bind(this, path)));
  }
}

/** Puts aside what git would run or follow, in a git directory that a command has made. */
function clean(directory: string, putAside: (path: string) => void): void {
  const hooks = join(directory, "hooks");
  const stats = lookAtPath(hooks);
  if (stats && !stats.isDirectory()) putAside(hooks);
  const planted = stats?.isDirectory() ? listNames(hooks).filter((name) => !name.endsWith(".sample")) : [];
  for (const path of [
    ...planted.map((name) => join(hooks, name)),
    ...["commondir", "config.worktree"].map((name) => join(directory, name)),
  ])
    if (lookAtPath(path)) putAside(path);
}

/** Shorter paths first. */
function listParents(path: string, workspace: string): string[] {
  const parent = dirname(path);
  return parent === workspace || !isWithin(workspace, parent) ? [] : [...listParents(parent, workspace), parent];
}

/** Lists those directories, and the ones above them that are within `roots`. */
function listLeading(directories: readonly string[], roots: readonly string[]): string[] {
  const leading = new Set<string>();
  for (let path of directories) {
    for (; roots.some((root) => isWithin(root, path)); path = dirname(path)) leading.add(path);
  }
  return [...leading].sort((a, b) => a.length - b.length);
}

/** Whether git takes a directory without a `.git` for a repository, and reads its configuration. */
function isGitDirectory(directory: string): boolean {
  const has = (name: string) => lookAtPath(join(directory, name)) !== undefined;
  return has("HEAD") && ((has("objects") && has("refs")) || has("commondir"));
}

/** Why the link could not be made. */
function tryToLink(target: string, path: string): string | undefined {
  try {
    giveOwnerRights(dirname(path));
    symlinkSync(target, path);
    return undefined;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return getErrorMessage(error);
  }
}

const describeLostLink = (name: string, target: string, reason: string): string =>
  `[The command removed ${name}, a link to ${target}, and the sandbox could not put it back (${reason}). Tell the user.]`;

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
