/** Where the resources of a session are, in the order in which they have precedence. */
import { join, relative } from "node:path";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { orUndefined } from "@tau/tools/durable";
import type { NamedAgent } from "./agent-definition.ts";
import { getPathKind } from "./read-text.ts";
import { projectSkillDirectories } from "./skills.ts";
import { appendSystemFileName, systemFileName } from "./system-files.ts";

export interface LocationOptions {
  cwd: string;
  agentDir: string;
  home: string;
  /** Whether the skills in `.agents` of the home directory, and the skills and commands in its `.claude`, are found. */
  includeHome: boolean;
  /** Whether the project has resources of its own, besides context files. */
  includeProject: boolean;
  discoverSkills: boolean;
  discoverPrompts: boolean;
}

export interface Locations {
  /** Only the first `SYSTEM.md` that exists applies, and so on. */
  systemFiles: readonly string[];
  appendFiles: readonly string[];
  /** The user's own come before the project's, so that a project cannot replace them. */
  skills: readonly string[];
  prompts: readonly string[];
  /** The project's come before all others; those of the user are in the agent directory. */
  agents: readonly string[];
}

/** `.tau` has precedence over `.pi`. */
const projectDirectoryNames = [".tau", ".pi"];

/** Agents, skills and templates are also read where Claude Code keeps them. */
export const claudeAgents = join(".claude", "agents");
export const claudeSkills = join(".claude", "skills");
export const claudeCommands = join(".claude", "commands");

/**
 * The locations of the user; `project` are those that apply only after the user trusts the project, and `loadedElsewhere`
 * those of the project's extensions and themes, for which the same is true.
 */
export async function locateResources(
  fs: FileSystem,
  options: LocationOptions,
  agent: NamedAgent | undefined,
): Promise<{ user: Locations; project: Locations; loadedElsewhere: readonly string[] }> {
  const { cwd, agentDir, home, includeHome, includeProject, discoverSkills, discoverPrompts } = options;
  const own = [agent?.resourcesDir, agentDir].filter((directory) => directory !== undefined);
  const sharedSkills = join(home, ".agents", "skills");
  const candidates = includeProject ? projectDirectoryNames.map((name) => join(cwd, name)) : [];
  // In the home directory one of them is the agent directory, not that of a project.
  const [ownPath, ...realPaths] = await Promise.all(
    [agentDir, ...candidates].map(async (path) => (await orUndefined(fs.realpath(path))) ?? path),
  );
  const directories = realPaths.includes(ownPath!) ? [] : candidates;
  const projectSkills = includeProject && discoverSkills ? await projectSkillDirectories(fs, { cwd, home }) : [];
  const ofHome = (name: string) => (includeHome ? [join(home, name)] : []);
  const ofProject = (name: string) => (directories.length === 0 ? [] : [join(cwd, name)]);
  const below = (name: string, parents: readonly string[]) => parents.map((directory) => join(directory, name));
  return {
    user: {
      systemFiles: below(systemFileName, [agentDir]),
      appendFiles: below(appendSystemFileName, [agentDir]),
      skills: discoverSkills
        ? [...below("skills", own), ...(includeHome ? [sharedSkills] : []), ...ofHome(claudeSkills)]
        : [],
      prompts: discoverPrompts ? [...below("prompts", own), ...ofHome(claudeCommands)] : [],
      agents: [],
    },
    project: {
      systemFiles: below(systemFileName, directories),
      appendFiles: below(appendSystemFileName, directories),
      skills: discoverSkills
        ? [
            ...below("skills", directories),
            ...projectSkills.filter((path) => path !== sharedSkills),
            ...ofProject(claudeSkills),
          ]
        : [],
      prompts: discoverPrompts ? [...below("prompts", directories), ...ofProject(claudeCommands)] : [],
      agents: [...below("agents", directories), ...ofProject(claudeAgents)],
    },
    loadedElsewhere: [...below("extensions", directories), ...below("themes", directories)],
  };
}

/** The project's system files have precedence, since they are about this project; the user's own skills and templates have. */
export const mergeLocations = (user: Locations, project: Locations): Locations => ({
  systemFiles: [...project.systemFiles, ...user.systemFiles],
  appendFiles: [...project.appendFiles, ...user.appendFiles],
  skills: [...user.skills, ...project.skills],
  prompts: [...user.prompts, ...project.prompts],
  agents: project.agents,
});

/** Lists the locations that exist, relative to the working directory. */
export async function listExisting(fs: FileSystem, cwd: string, locations: object): Promise<string[]> {
  const paths = Object.values(locations as Record<string, readonly string[]>).flat();
  const kinds = await Promise.all(paths.map((path) => getPathKind(fs, path)));
  return paths.filter((_path, index) => kinds[index] !== undefined).map((path) => relative(cwd, path));
}

/** Files of a project that pi reads and tau does not. */
const ignoredPiFiles = ["npm", "git"].map((name) => join(".pi", name));

/** A sentence about the files of pi that a trusted project has in vain; undefined if there are none. */
export async function describeIgnoredPiFiles(cwd: string): Promise<string | undefined> {
  const kinds = await Promise.all(ignoredPiFiles.map((name) => getPathKind(nodeFileSystem, join(cwd, name))));
  const names = ignoredPiFiles.filter((_name, index) => kinds[index] !== undefined);
  if (names.length === 0) return undefined;
  const used = "settings.json, mcp.json, extensions, skills, prompts, themes, SYSTEM.md and APPEND_SYSTEM.md";
  return `tau does not use ${names.join(", ")} of this project. Its ${used} in .pi count.`;
}
