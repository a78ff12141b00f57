/** Prepares what the commands of one session see, and puts it right after each of them. */
import type { NamedCredential } from "./credentials/named-credentials.ts";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock, Ids } from "@tau/ai";
import type { SpawnRequest } from "@tau/tools";
import { isWithin } from "@tau/tools/platform";
import { DirectoryStamps } from "./directory-stamps.ts";
import { findHidden, findSystemFacts, type SandboxPlace, type SystemFacts, toProjectFacts } from "./facts.ts";
import type { HiddenPaths } from "./hidden-paths.ts";
import { findRealPath, lookAtPath } from "./look.ts";
import { type Mount, planMounts } from "./mounts.ts";
import { getCacheDirectory, getCacheVariables } from "./package-caches.ts";
import { withPlaceholder } from "./placeholder.ts";
import { ProtectedFiles, type ProtectedPaths } from "./protected-files.ts";
import type { MountPlan } from "./sandboxed-commands.ts";
import { createSetAside, type SetAside } from "./set-aside.ts";
import type { SandboxSettings } from "./settings.ts";
import {
  createTemporaryDirectory,
  removeAbandonedDirectories,
  type TemporaryDirectory,
} from "./temporary-directory.ts";

interface SessionFilesOptions {
  readonly settings: SandboxSettings;
  /** Real paths. */
  readonly workspace: string;
  readonly home: string;
  readonly agentDir: string;
  readonly named: readonly NamedCredential[];
  readonly readable: readonly string[];
  /** See `SessionSandboxOptions.hidesMachine`. Undefined: commands see the machine. */
  readonly outside: SandboxPlace["outside"];
  readonly temporaryDirectories: readonly string[];
  /** Whether sockets of programs outside have to be hidden. */
  readonly hidesSockets: () => boolean;
  /** See `SessionSandboxOptions.isReadOnly`. */
  readonly isReadOnly: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Credentials are looked for at least this often. */
const hiddenEveryMs = 10_000;
/** How often the project is checked while commands run: jobs may run for hours. */
const checkEveryMs = 1_000;

export class SessionFiles {
  readonly place: SandboxPlace;
  readonly system: SystemFacts;
  readonly #options: SessionFilesOptions;
  readonly #temporary: TemporaryDirectory;
  /** The protected files of the workspace and of each other directory that commands may change, by its path. */
  readonly #files = new Map<string, ProtectedFiles>();
  readonly #setAside: SetAside;
  readonly #stamps = new DirectoryStamps();
  #hidden: HiddenPaths & { readonly hidesSockets: boolean; readonly atMs: number };
  /** The last plan, and what it was made of. */
  #plan: { inputs: readonly object[]; key: string; mounts: readonly Mount[] } | undefined;
  #running = 0;
  #notices: string[] = [];
  #cancelCheck: (() => void) | undefined;

  constructor(options: SessionFilesOptions) {
    const { settings, workspace, home, agentDir, named, readable, outside, ids } = options;
    this.#options = options;
    const temporary = createTemporaryDirectory();
    this.#temporary = temporary;
    const cache = getCacheDirectory(agentDir, workspace);
    makeOwn(cache);
    const real = (path: string) => findRealPath(path) ?? path;
    this.place = {
      workspace,
      home,
      agentDir: real(agentDir),
      named,
      readable: readable.flatMap((path) => findRealPath(path) ?? []),
      outside: outside && { ...outside, needed: outside.needed.map(real) },
      get temporary() {
        return temporary.getPath();
      },
      cache: real(cache),
    };
    this.system = findSystemFacts(settings, options.temporaryDirectories);
    const aside = join(agentDir, "set-aside", workspace.replaceAll(/[^\w.-]+/g, "-").replace(/^-/, ""));
    this.#setAside = createSetAside(aside, ids);
    this.#protect([workspace, ...settings.allowedPaths]);
    this.#hidden = this.#findHidden();
    // Nobody waits for it, and a directory that cannot be removed harms nobody.
    removeAbandonedDirectories(options.clock).catch(() => undefined);
  }

  /**
   * Protects paths. A path that a person allowed once stays protected: that costs little, and a command may have changed
   * something there.
   */
  #protect(paths: readonly string[]): void {
    const { workspace, home } = this.#options;
    for (const root of paths) {
      const isKnown = this.#files.has(root) || (root !== workspace && isWithin(workspace, root));
      if (isKnown || !lookAtPath(root)?.isDirectory()) continue;
      const getWritable = () => [...this.#files.keys(), this.place.cache, this.place.temporary];
      const setAside = this.#setAside;
      this.#files.set(root, new ProtectedFiles({ workspace: root, shownFrom: workspace, home, setAside, getWritable }));
    }
  }

  /** Before a command: what it sees. `granted`: real paths that it may change besides. `finish` or `cancel` must follow. */
  begin(granted: readonly string[]): MountPlan {
    // While something runs, whatever is new may be its work.
    if (this.#running === 0) for (const [, files] of this.#listFiles()) files.refresh();
    else this.#notices.push(...this.#check(false));
    this.#protect(granted);
    // A person may have emptied our cache.
    makeOwn(this.place.cache);
    this.#running++;
    this.#checkLater();
    if (this.#isHiddenStale()) this.#hidden = this.#findHidden();
    let mounts = this.#getMounts(granted);
    return {
      get mounts() {
        return mounts;
      },
      renew: () => {
        if (this.#running === 1) for (const [, files] of this.#listFiles()) files.refresh();
        this.#hidden = this.#findHidden();
        mounts = this.#getMounts(granted);
      },
    };
  }

  /**
   * Variables that lead the package managers of a command to the cache of the workspace. One that leads to an allowed path stays
   * as it is: that can be written.
   */
  getCacheVariables({ argv, env }: Pick<SpawnRequest, "argv" | "env">): Record<string, string> {
    const { workspace, cache } = this.place;
    const { allowedPaths } = this.#options.settings;
    const isAllowed = (path: string | undefined) =>
      path !== undefined && allowedPaths.some((allowed) => isWithin(allowed, path));
    const mayRunPnpm =
      argv.some((text) => text.includes("pnpm")) || lookAtPath(join(workspace, "pnpm-lock.yaml")) !== undefined;
    const variables = Object.entries(getCacheVariables(cache, { mayRunPnpm }));
    return Object.fromEntries(variables.filter(([name]) => !isAllowed(env[name])));
  }

  /** The protected files of directories that are still where they were: what a link leads to belongs to somebody else. */
  #listFiles(): [root: string, files: ProtectedFiles][] {
    const { workspace } = this.#options;
    return [...this.#files].filter(([root]) => root === workspace || isStillThere(root));
  }

  #getMounts(grants: readonly string[]): readonly Mount[] {
    const { settings, isReadOnly } = this.#options;
    const granted = grants.filter(isStillThere);
    // What is below a directory that was added later is open with it, and needs no mount that follows a link of a command.
    const allowedPaths = settings.allowedPaths.filter((path) => isStillThere(path) && !isBelow(path, granted));
    const open = [this.#options.workspace, ...allowedPaths, ...granted];
    const all = this.#listFiles().filter(([root]) => open.includes(root));
    const inputs = [this.#hidden.paths, ...all.map(([, files]) => files.getPaths())];
    const key = [this.place.temporary, ...open].join("\0");
    const isSame = this.#plan?.key === key && this.#plan.inputs.every((input, index) => input === inputs[index]);
    if (!this.#plan || !isSame) {
      const paths = all.map(([root, files]) =>
        granted.includes(root) ? onlyWithin(root, files.getPaths()) : files.getPaths(),
      );
      const { paths: hidden, looked } = this.#hidden;
      const watched = findWatched(this.place.home, looked);
      const facts = toProjectFacts(this.place, this.system, { hidden, watched, paths: mergePaths(paths) });
      const outer = granted.filter((path) => !isBelow(path, granted));
      const wider = { ...settings, allowedPaths: [...allowedPaths, ...outer] };
      this.#plan = { inputs, key, mounts: planMounts(wider, facts, { isReadOnly }) };
    }
    return this.#plan.mounts;
  }

  /** After a command: sentences for the model about what was put right. */
  finish(): string[] {
    if (--this.#running === 0) this.#cancelCheck?.();
    const notices = [...this.#notices, ...this.#check(true)];
    this.#notices = [];
    return notices;
  }

  /** Instead of `finish`, for a command that was not started: the next one reports what was put right. */
  cancel(): void {
    this.#notices = this.finish();
  }

  async close(): Promise<void> {
    this.#cancelCheck?.();
    await this.#temporary.remove();
  }

  /** Whatever appears while commands can change nothing is the work of somebody else. */
  #check(isEnd: boolean): string[] {
    if (this.#options.isReadOnly) return [];
    return this.#listFiles().flatMap(([, files]) => files.check({ isEnd }));
  }

  /** A credential file that a person adds changes the directory that it is in. */
  #isHiddenStale(): boolean {
    const { looked, hidesSockets, atMs } = this.#hidden;
    // Nothing shows whether there are other sockets.
    if (this.#options.hidesSockets() || hidesSockets) return true;
    return (
      this.#options.clock.monotonic() - atMs > hiddenEveryMs || looked.some((path) => !this.#stamps.isUnchanged(path))
    );
  }

  #findHidden() {
    const hidesSockets = this.#options.hidesSockets();
    const hidden = findHidden(this.place, this.system, hidesSockets);
    for (const path of hidden.looked) this.#stamps.remember(path);
    // The outer directory is ours alone: commands do not see it.
    const directory = dirname(this.place.temporary);
    const paths = hidden.paths.map((path) => withPlaceholder(path, directory));
    return { ...hidden, paths, hidesSockets, atMs: this.#options.clock.monotonic() };
  }

  #checkLater(): void {
    this.#cancelCheck?.();
    this.#cancelCheck = this.#options.clock.setTimer(checkEveryMs, () => {
      if (this.#running === 0) return;
      this.#notices.push(...this.#check(false));
      this.#checkLater();
    });
  }
}

/** The directories of the home in which credentials were looked for, by their real paths. */
const findWatched = (home: string, looked: readonly string[]): string[] => {
  const inHome = home === "/" ? [] : looked.filter((path) => isWithin(home, path));
  const real = new Set(inHome.flatMap((path) => findRealPath(path) ?? []));
  return [...real].filter((path) => path !== "/" && lookAtPath(path)?.isDirectory());
};

/** Whether a real path is still one. A link in its place may lead anywhere. */
const isStillThere = (path: string): boolean => findRealPath(path) === path;

const isBelow = (path: string, directories: readonly string[]): boolean =>
  directories.some((directory) => directory !== path && isWithin(directory, path));

const makeOwn = (directory: string) => mkdirSync(directory, { recursive: true, mode: 0o700 });

const mergePaths = (all: readonly ProtectedPaths[]): ProtectedPaths => ({
  readOnly: all.flatMap(({ readOnly }) => readOnly),
  pinned: all.flatMap(({ pinned }) => pinned),
  outside: all.flatMap(({ outside }) => outside),
});

/** A person who opens a directory has not opened the repository that it is in. */
const onlyWithin = (root: string, { readOnly, pinned }: ProtectedPaths): ProtectedPaths => ({
  readOnly: readOnly.filter((path) => isWithin(root, path)),
  pinned: pinned.filter((path) => isWithin(root, path)),
  outside: [],
});
