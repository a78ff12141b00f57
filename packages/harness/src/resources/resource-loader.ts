/** Everything that people write for an agent, read from where it belongs, and read again when it is asked for. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { Listeners, SerialQueue } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { contextDirectories, loadContextFiles, type TextFile } from "./context-files.ts";
import { loadNamedAgent, type NamedAgent } from "./named-agent.ts";
import { problemAt, type ResourceProblem } from "./problem.ts";
import { loadPromptTemplates, type PromptTemplate } from "./prompt-templates.ts";
import { loadSkills, projectSkillDirectories, type Skill } from "./skills.ts";
import { appendSystemFileName, loadSystemFile, systemFileName, systemFilePaths } from "./system-files.ts";

export interface Resources {
  /** The agent with a name, where one was asked for. Its prompt is in `systemPrompt`. */
  agent: NamedAgent | undefined;
  /** Takes the place of the default system prompt. */
  systemPrompt: TextFile | undefined;
  appendSystemPrompt: TextFile | undefined;
  /** What weighs most is last. */
  contextFiles: readonly TextFile[];
  skills: readonly Skill[];
  promptTemplates: readonly PromptTemplate[];
}

export type ResourceName = keyof Resources;

/** What a session is told of resources, and nothing else: any object of this form will do. */
export interface ResourceLoader {
  /** As of the last load. A new object whenever something changed, never changed in place. */
  readonly resources: Resources;
  /** What could not be used as it stands, as of the last load. */
  readonly problems: readonly ResourceProblem[];
  /** Reads everything again. A file that became unreadable keeps its last good content. Returns what changed. */
  reload(): Promise<readonly ResourceName[]>;
  /** Called after a reload that changed something. Returns a function that ends it. */
  subscribe(listener: (changed: readonly ResourceName[]) => void): () => void;
}

export interface ResourceLoaderOptions {
  cwd: string;
  agentDir: string;
  /**
   * Whether what belongs to the project is read: `.tau`, `.agents` and, unless `contextFiles` says otherwise, its
   * context files. Default true; say false until the person trusts the project. Nothing is ever executed.
   */
  includeProject?: boolean;
  /** Whose context files are read. Default: `all` with the project, else `own`, those of `agentDir`. */
  contextFiles?: "all" | "own" | "none";
  /**
   * An agent of `agentDir`: its prompt comes before every `SYSTEM.md`, its skills and templates before those of others.
   * Throws when there is none of this name.
   */
  agentName?: string;
  /** Further skills: files or directories. They come before all others. */
  skillPaths?: readonly string[];
  /** Further prompt templates: files or directories. They come before all others. */
  promptPaths?: readonly string[];
  /** Tools that the agent may name without being asked about. */
  knownTools?: readonly string[];
  /** Where `.agents/skills` of the person is. Default: the home directory. */
  home?: string;
  fileSystem?: FileSystem;
}

/** Resolves when everything has been read once. */
export async function createResourceLoader(options: ResourceLoaderOptions): Promise<ResourceLoader> {
  const settled = resolveOptions(options);
  let { resources, problems } = await load(settled, nothing);
  const failures: unknown[] = [];
  const listeners = new Listeners<readonly ResourceName[]>((error) => failures.push(error));
  const reloadNow = async () => {
    const before = resources;
    const loaded = await load(settled, before);
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

const nothing: Resources = {
  agent: undefined,
  systemPrompt: undefined,
  appendSystemPrompt: undefined,
  contextFiles: [],
  skills: [],
  promptTemplates: [],
};

type Settled = ReturnType<typeof resolveOptions>;

function resolveOptions(options: ResourceLoaderOptions) {
  const { includeProject = true, home = homedir(), fileSystem = nodeFileSystem } = options;
  const [cwd, agentDir] = [resolve(options.cwd), resolve(options.agentDir)];
  const own = join(cwd, ".tau");
  return {
    cwd,
    agentDir,
    home,
    fileSystem,
    agentName: options.agentName,
    knownTools: options.knownTools,
    skillPaths: (options.skillPaths ?? []).map((path) => resolve(cwd, path)),
    promptPaths: (options.promptPaths ?? []).map((path) => resolve(cwd, path)),
    includeProject,
    // Who works in their home directory has no project there: its `.tau` is the agent directory.
    projectDir: includeProject && own !== agentDir ? own : undefined,
    contextFiles: options.contextFiles ?? (includeProject ? ("all" as const) : ("own" as const)),
  };
}

async function load(
  settled: Settled,
  before: Resources,
): Promise<{ resources: Resources; problems: ResourceProblem[] }> {
  const { fileSystem, cwd, agentDir, projectDir, contextFiles } = settled;
  const { agent, problems: agentProblems } = await loadAgent(settled, before.agent);
  const systemFile = async (name: string, file: TextFile | undefined) => {
    const paths = systemFilePaths(name, [projectDir, agentDir]);
    return await loadSystemFile({ fileSystem, paths, lastGood: byPath(file ? [file] : [], ({ path }) => path) });
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
    roots: await skillRoots(settled, agent),
    lastGood: byPath(before.skills, ({ filePath }) => filePath),
  });
  const templates = await loadPromptTemplates({
    fileSystem,
    directories: [...settled.promptPaths, ...below("prompts", [agent?.resourcesDir, agentDir, projectDir])],
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

/** One that vanished while it was in use stays what it was. */
async function loadAgent(
  { agentDir, agentName, knownTools, fileSystem }: Settled,
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
    const problem = problemAt("unreadable", { path: before.directory }, `${error.message} It stays what it was.`);
    return { agent: before, problems: [problem] };
  }
}

/** The person's own come before the project's: a project cannot put another skill in the place of one they know. */
async function skillRoots(
  { fileSystem, cwd, agentDir, home, projectDir, includeProject, skillPaths }: Settled,
  agent: NamedAgent | undefined,
) {
  const own = [...below("skills", [agent?.resourcesDir, agentDir]), join(home, ".agents", "skills")];
  const project = includeProject ? await projectSkillDirectories(fileSystem, cwd) : [];
  return [...skillPaths, ...own, ...below("skills", [projectDir]), ...project];
}

const below = (name: string, directories: readonly (string | undefined)[]) => systemFilePaths(name, directories);

const byPath = <T>(items: readonly T[], getPath: (item: T) => string): Map<string, T> =>
  new Map(items.map((item) => [getPath(item), item]));

function changedNames(before: Resources, after: Resources): ResourceName[] {
  const names = Object.keys(nothing) as ResourceName[];
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
