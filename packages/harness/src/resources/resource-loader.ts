/** Loads all files that users write for an agent, and reloads them on request. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { Listeners, SerialQueue } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { contextDirectories, loadContextFiles, type TextFile } from "./context-files.ts";
import { guardResources } from "./guard.ts";
import { loadNamedAgent, type NamedAgent } from "./named-agent.ts";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import { getPathKind } from "./read-text.ts";
import { loadPromptTemplates, type PromptTemplate } from "./prompt-templates.ts";
import { loadSkills, projectSkillDirectories, type Skill } from "./skills.ts";
import { appendSystemFileName, loadSystemFile, systemFileName, systemFilePaths } from "./system-files.ts";

export interface Resources {
  /** The named agent, if one is used. Its prompt is in `systemPrompt`. */
  agent: NamedAgent | undefined;
  /** Replaces the default system prompt. */
  systemPrompt: TextFile | undefined;
  appendSystemPrompt: TextFile | undefined;
  /** The last has precedence. */
  contextFiles: readonly TextFile[];
  skills: readonly Skill[];
  promptTemplates: readonly PromptTemplate[];
}

export type ResourceName = keyof Resources;

/** What a session needs. Any object with these members can be used. */
export interface ResourceLoader {
  /** As of the last load. Never changed in place: a new object whenever something changed. */
  readonly resources: Resources;
  /** The problems of the last load. */
  readonly problems: readonly ResourceProblem[];
  /** Reads everything again. A file that became unreadable keeps its last content. Resolves to what changed. */
  reload(): Promise<readonly ResourceName[]>;
  /** Calls `listener` after a reload that changed something. Returns a function that ends that. */
  subscribe(listener: (changed: readonly ResourceName[]) => void): () => void;
}

export interface ResourceLoaderOptions {
  cwd: string;
  agentDir: string;
  /**
   * Whether files of the project are read: `.tau`, `.agents` and, unless `contextFiles` says otherwise, context files.
   * Default true; set it to false until the user trusts the project. Nothing is ever executed.
   */
  includeProject?: boolean;
  /** Whether `SYSTEM.md` and `APPEND_SYSTEM.md` of the project count; asked for each load. Default: they do not. */
  isProjectTrusted?: () => boolean;
  /** Which context files are read; `own` are those of `agentDir`. Default: `all` with the project, else `own`. */
  contextFiles?: "all" | "own" | "none";
  /**
   * A named agent of `agentDir`. Its prompt, skills and templates have precedence. Throws if there is no agent of this
   * name.
   */
  agentName?: string;
  /** More skills: files or directories. They have precedence. */
  skillPaths?: readonly string[];
  /** Whether other skills than those of `skillPaths` are loaded. Default true. */
  discoverSkills?: boolean;
  /** More prompt templates: files or directories. They have precedence. */
  promptPaths?: readonly string[];
  /** Whether other templates than those of `promptPaths` are loaded. Default true. */
  discoverPrompts?: boolean;
  /** Tools that exist: other names in `tools.yaml` are reported. */
  knownTools?: readonly string[];
  /** The directory of the user's own `.agents/skills`. Default: the home directory. */
  home?: string;
  fileSystem?: FileSystem;
}

/** Resolves when everything has been read once. */
export async function createResourceLoader(options: ResourceLoaderOptions): Promise<ResourceLoader> {
  const resolved = resolveOptions(options);
  let { resources, problems } = await load(resolved, noResources);
  const failures: unknown[] = [];
  const listeners = new Listeners<readonly ResourceName[]>((error) => failures.push(error));
  const reloadNow = async () => {
    const before = resources;
    const loaded = await load(resolved, before);
    const changed = changedNames(before, loaded.resources);
    problems = loaded.problems;
    if (changed.length === 0) return changed;
    resources = loaded.resources;
    listeners.emit(changed);
    // All were called; the first failure is the caller's.
    const [failure] = failures.splice(0);
    if (failure !== undefined) throw failure;
    return changed;
  };
  const queue = new SerialQueue();
  return {
    get resources() {
      return resources;
    },
    get problems() {
      return problems;
    },
    // One at a time, or an older reading could come last.
    reload: () => queue.add(reloadNow),
    subscribe: (listener) => listeners.add(listener),
  };
}

const noResources: Resources = {
  agent: undefined,
  systemPrompt: undefined,
  appendSystemPrompt: undefined,
  contextFiles: [],
  skills: [],
  promptTemplates: [],
};

type ResolvedOptions = ReturnType<typeof resolveOptions>;

function resolveOptions(options: ResourceLoaderOptions) {
  const {
    includeProject = true,
    discoverSkills = true,
    discoverPrompts = true,
    isProjectTrusted = () => false,
    home = homedir(),
    fileSystem = nodeFileSystem,
  } = options;
  const [cwd, agentDir] = [resolve(options.cwd), resolve(options.agentDir)];
  const projectDir = join(cwd, ".tau");
  return {
    cwd,
    agentDir,
    home,
    fileSystem,
    agentName: options.agentName,
    knownTools: options.knownTools,
    skillPaths: (options.skillPaths ?? []).map((path) => resolve(cwd, path)),
    promptPaths: (options.promptPaths ?? []).map((path) => resolve(cwd, path)),
    discoverSkills,
    discoverPrompts,
    includeProject,
    isProjectTrusted,
    // In the home directory `.tau` is the agent directory, not that of a project.
    projectDir: includeProject && projectDir !== agentDir ? projectDir : undefined,
    contextFiles: options.contextFiles ?? (includeProject ? ("all" as const) : ("own" as const)),
  };
}

async function load(
  options: ResolvedOptions,
  before: Resources,
): Promise<{ resources: Resources; problems: ResourceProblem[] }> {
  const { cwd, agentDir, projectDir, contextFiles } = options;
  const fileSystem = await guardResources(options.fileSystem, options);
  const { agent, problems: agentProblems } = await loadAgent({ ...options, fileSystem }, before.agent);
  const isTrusted = options.isProjectTrusted();
  const systemFile = async (name: string, file: TextFile | undefined) => {
    const paths = systemFilePaths(name, [isTrusted ? projectDir : undefined, agentDir]);
    const lastGood = byPath(file ? [file] : [], ({ path }) => path);
    const { value, problems } = await loadSystemFile({ fileSystem, paths, lastGood });
    const ignored = isTrusted || projectDir === undefined ? undefined : join(projectDir, name);
    if (ignored === undefined || (await getPathKind(fileSystem, ignored)) === undefined) return { value, problems };
    return { value, problems: [...problems, createProblem("untrusted", { path: ignored }, untrustedSystemFile)] };
  };
  const system = agent?.systemPrompt
    ? { value: agent.systemPrompt, problems: [] }
    : await systemFile(systemFileName, before.systemPrompt);
  const append = await systemFile(appendSystemFileName, before.appendSystemPrompt);
  const context = await loadContextFiles({
    fileSystem,
    directories:
      contextFiles === "none" ? [] : contextDirectories({ agentDir, cwd: contextFiles === "all" ? cwd : undefined }),
    lastGood: byPath(before.contextFiles, ({ path }) => path),
  });
  const skills = await loadSkills({
    fileSystem,
    roots: await skillRoots({ ...options, fileSystem }, agent),
    lastGood: byPath(before.skills, ({ filePath }) => filePath),
  });
  const templates = await loadPromptTemplates({
    fileSystem,
    directories: [
      ...options.promptPaths,
      ...below("prompts", options.discoverPrompts ? [agent?.resourcesDir, agentDir, projectDir] : []),
    ],
    lastGood: byPath(before.promptTemplates, ({ filePath }) => filePath),
  });
  return {
    resources: {
      agent,
      systemPrompt: system.value,
      appendSystemPrompt: append.value,
      contextFiles: context.value,
      skills: skills.value,
      promptTemplates: templates.value,
    },
    problems: [{ problems: agentProblems }, system, append, context, skills, templates].flatMap(
      ({ problems }) => problems,
    ),
  };
}

const untrustedSystemFile =
  "A project may not change the system prompt before it is trusted, so this file is ignored. To trust it: tau trust";

/** An agent that was removed while it is in use stays as it was. */
async function loadAgent(
  { agentDir, agentName, knownTools, fileSystem }: ResolvedOptions,
  before: NamedAgent | undefined,
): Promise<{ agent: NamedAgent | undefined; problems: readonly ResourceProblem[] }> {
  if (agentName === undefined) return { agent: undefined, problems: [] };
  try {
    const agent = await loadNamedAgent(agentDir, agentName, {
      fileSystem,
      ...(knownTools && { knownTools }),
      ...(before && { lastGood: before }),
    });
    return { agent: { ...agent, problems: [] }, problems: agent.problems };
  } catch (error) {
    if (!before || !(error instanceof HarnessError)) throw error;
    const problem = createProblem("unreadable", { path: before.directory }, `${error.message} Its last state is used.`);
    return { agent: before, problems: [problem] };
  }
}

/** The user's own skills come before the project's, so that a project cannot replace them. */
async function skillRoots(
  { fileSystem, cwd, agentDir, home, projectDir, includeProject, skillPaths, discoverSkills }: ResolvedOptions,
  agent: NamedAgent | undefined,
) {
  if (!discoverSkills) return skillPaths;
  const own = [...below("skills", [agent?.resourcesDir, agentDir]), join(home, ".agents", "skills")];
  const project = includeProject ? await projectSkillDirectories(fileSystem, { cwd, home }) : [];
  return [...skillPaths, ...own, ...below("skills", [projectDir]), ...project];
}

const below = (name: string, directories: readonly (string | undefined)[]) => systemFilePaths(name, directories);

const byPath = <T>(items: readonly T[], getPath: (item: T) => string): Map<string, T> =>
  new Map(items.map((item) => [getPath(item), item]));

function changedNames(before: Resources, after: Resources): ResourceName[] {
  const names = Object.keys(noResources) as ResourceName[];
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
