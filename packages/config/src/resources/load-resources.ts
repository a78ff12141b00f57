/** Reads all files that users write for an agent, once. */
import { type FileSystem } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import {
  contextDirectories,
  contextFilePaths,
  loadContextFiles,
  type LoadedFiles,
  type TextFile,
} from "./context-files.ts";
import { guardResources } from "./guard.ts";
import { listExisting, type LocationOptions, type Locations, locateResources, mergeLocations } from "./locations.ts";
import { agentFilePaths, loadNamedAgent, loadOwnAgent, type NamedAgent } from "./named-agent.ts";
import { createPathFilter } from "./path-filter.ts";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import { loadPromptTemplates } from "./prompt-templates.ts";
import type { Resources } from "./resources.ts";
import { loadSkills } from "./skills.ts";
import { loadSystemFile } from "./system-files.ts";

/** See `ResourceLoaderOptions`. All paths are absolute. */
export interface LoadOptions extends LocationOptions {
  fileSystem: FileSystem;
  isProjectTrusted: () => boolean | Promise<boolean>;
  contextFiles: "all" | "own" | "none";
  agentName: string | undefined;
  lists: () => { skills: readonly string[]; prompts: readonly string[] };
  packagePaths: () => Promise<{ skills: readonly string[]; prompts: readonly string[] }>;
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
  const { agent, problems: agentProblems } = await loadAgent(options, before.agent);
  const isTrusted = await options.isProjectTrusted();
  const { user, project, loadedElsewhere } = await locateResources(fileSystem, options, agent);
  const locations = isTrusted ? mergeLocations(user, project) : user;
  const ignored = isTrusted ? [] : await listExisting(fileSystem, cwd, { ...project, loadedElsewhere });
  const prompts = await loadPrompts({ fileSystem, locations, agent }, before);
  const context = await loadContext(options, before);
  const called = await loadCalled(options, locations, before);
  if (isTrusted && !(await options.isProjectTrusted())) return await loadResources(given, before);
  const untrusted = ignored.length === 0 ? [] : [createProblem("untrusted", { path: cwd }, formatUntrusted(ignored))];
  const agentFiles = agentFilePaths(agent?.directory ?? options.agentDir);
  const parts = [prompts, context, called];
  return {
    resources: { agent, ...prompts.value, ...context.value, ...called.value },
    problems: [...untrusted, ...agentProblems, ...parts.flatMap(({ problems }) => problems)],
    watched: [...new Set([...agentFiles, ...parts.flatMap(({ watched }) => watched)])],
  };
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
  { agentDir, agentName, fileSystem }: LoadOptions,
  before: NamedAgent | undefined,
): Promise<{ agent: NamedAgent | undefined; problems: readonly ResourceProblem[] }> {
  const options = { fileSystem, ...(before && { lastGood: before }) };
  try {
    const agent =
      agentName === undefined
        ? await loadOwnAgent(agentDir, options)
        : await loadNamedAgent(agentDir, agentName, options);
    return { agent: agent && { ...agent, problems: [] }, problems: agent?.problems ?? [] };
  } catch (error) {
    if (!before || !(error instanceof HarnessError)) throw error;
    const problem = createProblem("unreadable", { path: before.directory }, `${error.message} Its last state is used.`);
    return { agent: before, problems: [problem] };
  }
}

const byPath = <T>(items: readonly T[], getPath: (item: T) => string): Map<string, T> =>
  new Map(items.map((item) => [getPath(item), item]));
