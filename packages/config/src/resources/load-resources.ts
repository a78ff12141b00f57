/** Reads all files that users write for an agent, once. */
import { didYouMean } from "@tau/ai/internal";
import { type FileSystem } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import {
  contextDirectories,
  contextFilePaths,
  loadContextFiles,
  type Loaded,
  type LoadedFiles,
  type TextFile,
} from "./context-files.ts";
import { guardResources } from "./guard.ts";
import { listExisting, type LocationOptions, type Locations, locateResources, mergeLocations } from "./locations.ts";
import type { NamedAgent } from "./agent-definition.ts";
import { agentFilePaths } from "./agent-directory.ts";
import { findAgents, type FoundAgent } from "./find-agents.ts";
import { loadNamedAgent, loadOwnAgent } from "./named-agent.ts";
import { createPathFilter } from "./path-filter.ts";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import { loadPromptTemplates } from "./prompt-templates.ts";
import type { Resources } from "./resources.ts";
import { loadSkills } from "./skills.ts";
import { loadSystemFile } from "./system-files.ts";

/** Files of installed packages, absolute. */
export interface PackageResourcePaths {
  skills: readonly string[];
  prompts: readonly string[];
  agents?: readonly string[];
}

/** See `ResourceLoaderOptions`. All paths are absolute. */
export interface LoadOptions extends LocationOptions {
  fileSystem: FileSystem;
  isProjectTrusted: () => boolean | Promise<boolean>;
  contextFiles: "all" | "own" | "none";
  agentName: string | undefined;
  lists: () => { skills: readonly string[]; prompts: readonly string[] };
  packagePaths: () => Promise<PackageResourcePaths>;
  skillPaths: readonly string[];
  promptPaths: readonly string[];
  extensionPaths: { skills: readonly string[]; prompts: readonly string[] };
}

export interface LoadedResources {
  resources: Resources;
  problems: readonly ResourceProblem[];
  /** Where changes matter: files and directories, also missing ones. */
  watched: readonly string[];
}

/** A file that cannot be read keeps the content that it had before. */
export async function loadResources(given: LoadOptions, before: Resources): Promise<LoadedResources> {
  const options = { ...given, fileSystem: await guardResources(given.fileSystem, given) };
  const { fileSystem, cwd } = options;
  const isTrusted = await options.isProjectTrusted();
  const { agent, problems: agentProblems } = await loadAgent(options, isTrusted, before.agent);
  const { user, project, loadedElsewhere } = await locateResources(fileSystem, options, agent);
  const locations = isTrusted ? mergeLocations(user, project) : user;
  const ignored = isTrusted ? [] : await listExisting(fileSystem, cwd, { ...project, loadedElsewhere });
  const prompts = await loadPrompts({ fileSystem, locations, agent }, before);
  const context = await loadContext(options, before);
  const called = limitSkills(await loadCalled(options, locations, before), agent);
  if (isTrusted && !(await options.isProjectTrusted())) return await loadResources(given, before);
  const untrusted = ignored.length === 0 ? [] : [createProblem("untrusted", { path: cwd }, formatUntrusted(ignored))];
  const parts = [prompts, context, called];
  return {
    resources: { agent, ...prompts.value, ...context.value, ...called.value },
    problems: [...untrusted, ...agentProblems, ...parts.flatMap(({ problems }) => problems)],
    watched: [...new Set([...listAgentFiles(agent, options), ...parts.flatMap(({ watched }) => watched)])],
  };
}

const listAgentFiles = (agent: NamedAgent | undefined, { agentDir }: LoadOptions): string[] => {
  const { path } = agent?.definition ?? {};
  if (agent?.definition) return path === undefined ? [] : [path];
  return agentFilePaths(agent?.directory ?? agentDir);
};

/** Reads the context file of one directory, for a trusted project: work there begins late, and nobody looked at it before. */
export async function loadContextFile(given: LoadOptions, directory: string): Promise<Loaded<TextFile | undefined>> {
  if (given.contextFiles !== "all" || !(await given.isProjectTrusted())) return { value: undefined, problems: [] };
  const fileSystem = await guardResources(given.fileSystem, given);
  const { value, problems } = await loadContextFiles({ fileSystem, directories: [directory] });
  return { value: value[0], problems };
}

/** All agents that a session in this directory can be created with, or give tasks to. */
export async function loadAgentList(given: LoadOptions): Promise<readonly FoundAgent[]> {
  const options = { ...given, fileSystem: await guardResources(given.fileSystem, given) };
  const isTrusted = await options.isProjectTrusted();
  const agents = await findAgents(await getAgentLocations(options, isTrusted));
  if (isTrusted && !(await options.isProjectTrusted())) return await loadAgentList(given);
  return agents;
}

async function getAgentLocations(options: LoadOptions, isTrusted: boolean) {
  const { fileSystem, agentDir } = options;
  const { project } = await locateResources(fileSystem, options, undefined);
  const { agents: packageFiles = [] } = await options.packagePaths();
  return { fileSystem, agentDir, projectDirectories: isTrusted ? project.agents : [], packageFiles };
}

/** Leaves the skills that the agent names. */
function limitSkills<T extends LoadedFiles<Pick<Resources, "skills">>>(called: T, agent: NamedAgent | undefined): T {
  const { skills: names, path = "", lines } = agent?.definition ?? {};
  if (!names) return called;
  const known = called.value.skills.map(({ name }) => name);
  const problems = names
    .filter((name) => !known.includes(name))
    .map((name) => {
      const text = `There is no skill ${JSON.stringify(name)}.${didYouMean(name, known)}`;
      return createProblem("invalid", { path, line: lines?.["skills"], key: "skills" }, text);
    });
  const skills = called.value.skills.filter(({ name }) => names.includes(name));
  return { ...called, value: { ...called.value, skills }, problems: [...called.problems, ...problems] };
}

async function loadPrompts(
  { fileSystem, locations, agent }: { fileSystem: FileSystem; locations: Locations; agent: NamedAgent | undefined },
  before: Resources,
): Promise<LoadedFiles<Pick<Resources, "systemPrompt" | "appendSystemPrompt">>> {
  const { systemFiles, appendFiles } = locations;
  const load = (paths: readonly string[], file: TextFile | undefined) =>
    loadSystemFile({ fileSystem, paths, lastGood: byPath(file ? [file] : [], ({ path }) => path) });
  const system = agent?.systemPrompt
    ? { value: agent.systemPrompt, problems: [] }
    : await load(systemFiles, before.systemPrompt);
  const append = await load(appendFiles, before.appendSystemPrompt);
  return {
    value: { systemPrompt: system.value, appendSystemPrompt: append.value },
    problems: [...system.problems, ...append.problems],
    watched: [...systemFiles, ...appendFiles],
  };
}

async function loadContext(
  { fileSystem, contextFiles, agentDir, cwd }: LoadOptions,
  before: Resources,
): Promise<LoadedFiles<Pick<Resources, "contextFiles">>> {
  const directories =
    contextFiles === "none" ? [] : contextDirectories({ agentDir, cwd: contextFiles === "all" ? cwd : undefined });
  const lastGood = byPath(before.contextFiles, ({ path }) => path);
  const { value, problems } = await loadContextFiles({ fileSystem, directories, lastGood });
  return { value: { contextFiles: value }, problems, watched: contextFilePaths(directories) };
}

/** Loads what users call by its name. */
async function loadCalled(
  options: LoadOptions,
  locations: Locations,
  before: Resources,
): Promise<LoadedFiles<Pick<Resources, "skills" | "promptTemplates">>> {
  const { fileSystem, extensionPaths } = options;
  const lists = options.lists();
  const ofPackages = await options.packagePaths();
  const skills = await loadSkills({
    fileSystem,
    ...combineRoots({
      first: options.skillPaths,
      list: lists.skills,
      located: locations.skills,
      last: [...extensionPaths.skills, ...(options.discoverSkills ? ofPackages.skills : [])],
    }),
    lastGood: byPath(before.skills, ({ filePath }) => filePath),
  });
  const templates = await loadPromptTemplates({
    fileSystem,
    ...combineRoots({
      first: options.promptPaths,
      list: lists.prompts,
      located: locations.prompts,
      last: [...extensionPaths.prompts, ...(options.discoverPrompts ? ofPackages.prompts : [])],
    }),
    lastGood: byPath(before.promptTemplates, ({ filePath }) => filePath),
  });
  return {
    value: { skills: skills.value, promptTemplates: templates.value },
    problems: [...skills.problems, ...templates.problems],
    watched: [...skills.watched, ...templates.watched],
  };
}

/** Where skills or templates are looked for, in the order of precedence. No list leaves out those of `first`. */
function combineRoots(paths: Record<"first" | "list" | "located" | "last", readonly string[]>) {
  const { roots, includes } = createPathFilter(paths.list, paths.first);
  const named = [...paths.first, ...roots];
  return { named, roots: [...named, ...paths.located, ...paths.last], includes };
}

const formatUntrusted = (names: readonly string[]) =>
  `Only the context files of a project are used before it is trusted, so these are ignored: ${names.join(", ")}. To trust it: tau trust`;

/** An agent that was removed while it is in use stays as it was. */
async function loadAgent(
  options: LoadOptions,
  isTrusted: boolean,
  before: NamedAgent | undefined,
): Promise<{ agent: NamedAgent | undefined; problems: readonly ResourceProblem[] }> {
  const { agentDir, agentName, fileSystem } = options;
  const lastGood = before && { lastGood: before };
  try {
    const agent =
      agentName === undefined
        ? await loadOwnAgent(agentDir, { fileSystem, ...lastGood })
        : await loadNamedAgent(agentDir, agentName, { ...(await getAgentLocations(options, isTrusted)), ...lastGood });
    return { agent: agent && { ...agent, problems: [] }, problems: agent?.problems ?? [] };
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error;
    if (!before) throw isTrusted ? error : await addTrustHint(error, options);
    const path = before.definition?.path ?? before.directory;
    const problem = createProblem("unreadable", { path }, `${error.message} Its last state is used.`);
    return { agent: before, problems: [problem] };
  }
}

/** The agent may be one of the project. */
async function addTrustHint(error: HarnessError, options: LoadOptions): Promise<HarnessError> {
  const { project } = await locateResources(options.fileSystem, options, undefined);
  const names = await listExisting(options.fileSystem, options.cwd, { agents: project.agents });
  if (names.length === 0) return error;
  const text = `${error.message} Agents of the project (${names.join(", ")}) can be used after tau trust.`;
  return new HarnessError(error.code, text, { cause: error });
}

const byPath = <T>(items: readonly T[], getPath: (item: T) => string): Map<string, T> =>
  new Map(items.map((item) => [getPath(item), item]));
