/** Reads all files that users write for an agent, once. */
import { type FileSystem } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { contextDirectories, contextFilePaths, loadContextFiles, type TextFile } from "./context-files.ts";
import { guardResources } from "./guard.ts";
import { listExisting, type LocationOptions, locateResources, mergeLocations } from "./locations.ts";
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
export async function loadResources(options: LoadOptions, before: Resources): Promise<LoadedResources> {
  const { cwd, agentDir, contextFiles, skillPaths, promptPaths, extensionPaths } = options;
  const fileSystem = await guardResources(options.fileSystem, options);
  const { agent, problems: agentProblems } = await loadAgent({ ...options, fileSystem }, before.agent);
  const isTrusted = await options.isProjectTrusted();
  const { user, project } = await locateResources(fileSystem, options, agent);
  const locations = isTrusted ? mergeLocations(user, project) : user;
  const ignored = isTrusted ? [] : await listExisting(fileSystem, cwd, project);
  const loadSystem = (paths: readonly string[], file: TextFile | undefined) =>
    loadSystemFile({ fileSystem, paths, lastGood: byPath(file ? [file] : [], ({ path }) => path) });
  const system = agent?.systemPrompt
    ? { value: agent.systemPrompt, problems: [] }
    : await loadSystem(locations.systemFiles, before.systemPrompt);
  const append = await loadSystem(locations.appendFiles, before.appendSystemPrompt);
  const directories =
    contextFiles === "none" ? [] : contextDirectories({ agentDir, cwd: contextFiles === "all" ? cwd : undefined });
  const lastContext = byPath(before.contextFiles, ({ path }) => path);
  const context = await loadContextFiles({ fileSystem, directories, lastGood: lastContext });
  const lists = options.lists();
  const ofPackages = await options.packagePaths();
  const skills = await loadSkills({
    fileSystem,
    ...combineRoots({
      first: skillPaths,
      list: lists.skills,
      located: locations.skills,
      last: [...extensionPaths.skills, ...(options.discoverSkills ? ofPackages.skills : [])],
    }),
    lastGood: byPath(before.skills, ({ filePath }) => filePath),
  });
  const templates = await loadPromptTemplates({
    fileSystem,
    ...combineRoots({
      first: promptPaths,
      list: lists.prompts,
      located: locations.prompts,
      last: [...extensionPaths.prompts, ...(options.discoverPrompts ? ofPackages.prompts : [])],
    }),
    lastGood: byPath(before.promptTemplates, ({ filePath }) => filePath),
  });
  if (isTrusted && !(await options.isProjectTrusted())) return await loadResources(options, before);
  const untrusted = ignored.length === 0 ? [] : [createProblem("untrusted", { path: cwd }, formatUntrusted(ignored))];
  const agentFiles = agentFilePaths(agent?.directory ?? agentDir);
  const systemFiles = [...locations.systemFiles, ...locations.appendFiles];
  return {
    resources: {
      agent,
      systemPrompt: system.value,
      appendSystemPrompt: append.value,
      contextFiles: context.value,
      skills: skills.value,
      promptTemplates: templates.value,
    },
    problems: [
      ...untrusted,
      ...agentProblems,
      ...[system, append, context, skills, templates].flatMap(({ problems }) => problems),
    ],
    watched: [
      ...new Set([
        ...contextFilePaths(directories),
        ...agentFiles,
        ...systemFiles,
        ...skills.watched,
        ...templates.watched,
      ]),
    ],
  };
}

/** Where skills or templates are looked for, in the order of precedence. No list leaves out those of `first`. */
function combineRoots({
  first,
  list,
  located,
  last,
}: Record<"first" | "list" | "located" | "last", readonly string[]>) {
  const { roots, includes } = createPathFilter(list, first);
  const named = [...first, ...roots];
  return { named, roots: [...named, ...located, ...last], includes };
}

const formatUntrusted = (names: readonly string[]) =>
  `Only the context files of a project count before it is trusted, so these are ignored: ${names.join(", ")}. To trust it: tau trust`;

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
