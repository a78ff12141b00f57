/** Loads all files that users write for an agent, and reloads them on request and when they change. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { type Clock, systemClock } from "@tau/ai";
import { getErrorMessage, Listeners, SerialQueue } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { type FileWatch, watchFiles } from "../files/watch-files.ts";
import type { Loaded, TextFile } from "./context-files.ts";
import type { FoundAgent } from "./find-agents.ts";
import {
  loadAgentList,
  loadContextFile,
  type LoadedResources,
  type LoadOptions,
  loadResources,
  type PackageResourcePaths,
} from "./load-resources.ts";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import { changedNames, isSame, noResources, type ResourceName, type Resources } from "./resources.ts";

/** Loads the resources that a session needs. Any object with these members can be used. */
export interface ResourceLoader {
  /** The resources of the last load. Never changed in place: a new object whenever something changed. */
  readonly resources: Resources;
  /** The problems of the last load. */
  readonly problems: readonly ResourceProblem[];
  /** Reads everything again. A file that became unreadable keeps its last content. Resolves to what changed. */
  reload(): Promise<readonly ResourceName[]>;
  /**
   * Loads these skills and prompt templates of extensions, in place of those of the call before. Those of the user and of
   * the project have precedence. Without it, extensions cannot add any.
   */
  setExtensionPaths?(paths: ExtensionPaths): Promise<void>;
  /**
   * Reads the context file of a directory below the working directory, or with `project` in that one; undefined if there is none,
   * or if the project is not trusted. Without it, sessions read none.
   */
  readContextFile?(directory: string, project?: OtherProject): Promise<Loaded<TextFile | undefined>>;
  /** Reads all agents that there are now. Without it, sessions know of none. */
  findAgents?(): Promise<readonly FoundAgent[]>;
  /** Calls `listener` after a load that changed resources or problems. Returns a function that ends that. */
  subscribe(listener: (changed: readonly ResourceName[]) => void): () => void;
}

/** A directory that was added to the workspace. */
interface OtherProject {
  cwd: string;
  isTrusted: () => Promise<boolean>;
}

/** Files or directories, absolute. */
interface ExtensionPaths {
  skillPaths: readonly string[];
  promptPaths: readonly string[];
}

export interface ResourceLoaderOptions {
  cwd: string;
  agentDir: string;
  /**
   * Whether files of the project are read: `.tau`, `.pi`, `.agents` and, unless `contextFiles` says otherwise, context
   * files. Default true. Nothing is ever executed.
   */
  includeProject?: boolean;
  /**
   * Whether more of the project applies than its context files; called before each load, and after it if it does, because
   * trust may be bound to what was read. Default: it does not.
   */
  isProjectTrusted?: () => boolean | Promise<boolean>;
  /** Which context files are read; `own` are those of `agentDir`. Default: `all` with the project, else `own`. */
  contextFiles?: "all" | "own" | "none";
  /** A named agent. Its prompt, skills and templates have precedence. Throws if there is no agent of this name. */
  agentName?: string;
  /** The lists `skills` and `prompts` of the settings; called for each load. Default: empty. */
  lists?: () => { skills: readonly string[]; prompts: readonly string[] };
  /**
   * The skills, prompt templates and agents of installed packages; called for each load. All others have precedence, but for
   * the agents that come with tau. Default: none.
   */
  packagePaths?: () => Promise<PackageResourcePaths>;
  /** More skills: files or directories. They have precedence, and no list leaves them out. */
  skillPaths?: readonly string[];
  /** Whether other skills than those of `skillPaths` and `lists` are loaded. Default true. */
  discoverSkills?: boolean;
  /** Like `skillPaths`, for prompt templates. */
  promptPaths?: readonly string[];
  discoverPrompts?: boolean;
  /** The directory of the user's own `.agents/skills`. Default: the home directory. */
  home?: string;
  /** Whether those skills are found. Default true. */
  includeHome?: boolean;
  /** Whether the files are watched while there are listeners. Default false. */
  watch?: boolean;
  fileSystem?: FileSystem;
  clock?: Clock;
}

/** Resolves when everything has been read once. */
export async function createResourceLoader(options: ResourceLoaderOptions): Promise<ResourceLoader> {
  const resolved = resolveOptions(options);
  const loaded = await loadResources({ ...resolved, extensionPaths: noPaths }, noResources);
  return new ReloadingResources(resolved, loaded);
}

const noPaths: LoadOptions["extensionPaths"] = { skills: [], prompts: [] };

class ReloadingResources implements ResourceLoader {
  readonly #options: ResolvedOptions;
  readonly #failures: unknown[] = [];
  readonly #listeners = new Listeners<readonly ResourceName[]>((error) => this.#failures.push(error));
  readonly #queue = new SerialQueue();
  #loaded: LoadedResources;
  #extensionPaths = noPaths;
  #watch: FileWatch | undefined;
  /** Reported once: all other files have most likely the same problem. */
  #unwatched: ResourceProblem | undefined;

  constructor(options: ResolvedOptions, loaded: LoadedResources) {
    this.#options = options;
    this.#loaded = loaded;
  }

  get resources(): Resources {
    return this.#loaded.resources;
  }

  get problems(): readonly ResourceProblem[] {
    const { problems } = this.#loaded;
    return this.#unwatched ? [...problems, this.#unwatched] : problems;
  }

  // One at a time, or an older reading could come last.
  reload(): Promise<readonly ResourceName[]> {
    return this.#queue.add(() => this.#reloadNow());
  }

  async setExtensionPaths({ skillPaths, promptPaths }: ExtensionPaths): Promise<void> {
    const paths = { skills: skillPaths, prompts: promptPaths };
    if (isSame(paths, this.#extensionPaths)) return;
    this.#extensionPaths = paths;
    await this.reload();
  }

  async readContextFile(directory: string, project?: OtherProject): Promise<Loaded<TextFile | undefined>> {
    const other = project && { cwd: project.cwd, isProjectTrusted: project.isTrusted };
    return await loadContextFile({ ...this.#options, extensionPaths: this.#extensionPaths, ...other }, directory);
  }

  async findAgents(): Promise<readonly FoundAgent[]> {
    return await loadAgentList({ ...this.#options, extensionPaths: this.#extensionPaths });
  }

  subscribe(listener: (changed: readonly ResourceName[]) => void): () => void {
    const remove = this.#listeners.add(listener);
    if (this.#options.watch && !this.#watch) this.#startWatch();
    return () => {
      remove();
      if (this.#listeners.size > 0) return;
      this.#watch?.close();
      this.#watch = undefined;
    };
  }

  async #reloadNow(): Promise<readonly ResourceName[]> {
    const before = this.#loaded;
    const next = await loadResources({ ...this.#options, extensionPaths: this.#extensionPaths }, before.resources);
    const changed = changedNames(before.resources, next.resources);
    // Never a new object without a change.
    this.#loaded = changed.length === 0 ? { ...next, resources: before.resources } : next;
    if (this.#watch && !isSame(before.watched, next.watched)) this.#startWatch();
    if (changed.length > 0 || !isSame(before.problems, next.problems)) this.#emit(changed);
    return changed;
  }

  #emit(changed: readonly ResourceName[]): void {
    this.#listeners.emit(changed);
    // All were called; the first failure is the caller's.
    const [failure] = this.#failures.splice(0);
    if (failure !== undefined) throw failure;
  }

  #startWatch(): void {
    this.#watch?.close();
    this.#watch = watchFiles(this.#loaded.watched, {
      clock: this.#options.clock,
      onChange: () => void this.reload().catch(warn),
      onError: (message) => {
        if (this.#unwatched) return;
        const text = `${message} Changes take effect after a reload.`;
        this.#unwatched = createProblem("unwatched", { path: this.#options.cwd }, text);
        // Not at once: it may be called while a listener is added.
        void this.#queue.add(async () => this.#emit([])).catch(warn);
      },
    });
  }
}

const warn = (error: unknown): void =>
  process.emitWarning(`Resources could not be reloaded: ${getErrorMessage(error)}`, "TauWarning");

type ResolvedOptions = ReturnType<typeof resolveOptions>;

function resolveOptions(options: ResourceLoaderOptions) {
  const { includeProject = true, skillPaths = [], promptPaths = [] } = options;
  const cwd = resolve(options.cwd);
  const toAbsolute = (paths: readonly string[]) => paths.map((path) => resolve(cwd, path));
  return {
    discoverSkills: true,
    discoverPrompts: true,
    isProjectTrusted: () => false,
    lists: () => ({ skills: [], prompts: [] }),
    packagePaths: () => Promise.resolve({ skills: [], prompts: [] }),
    home: homedir(),
    includeHome: true,
    watch: false,
    fileSystem: nodeFileSystem,
    clock: systemClock,
    agentName: undefined,
    contextFiles: includeProject ? ("all" as const) : ("own" as const),
    ...options,
    cwd,
    agentDir: resolve(options.agentDir),
    includeProject,
    skillPaths: toAbsolute(skillPaths),
    promptPaths: toAbsolute(promptPaths),
  };
}
