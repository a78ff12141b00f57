/** Finds agents by name: of a trusted project, of the user, of packages, and those that come with tau. */
import { basename, join } from "node:path";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { type AgentSource, isAgentName, type NamedAgent } from "./agent-definition.ts";
import { type AgentDirectoryOptions, loadAgentDirectory } from "./agent-directory.ts";
import { parseAgentFile } from "./agent-file.ts";
import { listBuiltInAgents } from "./built-in-agents.ts";
import { claudeAgents } from "./locations.ts";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import { getPathKind, readDirectory, readText } from "./read-text.ts";

export interface FindAgentsOptions extends AgentDirectoryOptions {
  agentDir: string;
  /** Directories of a trusted project; the first has precedence. Default: none. */
  projectDirectories?: readonly string[];
  /** Files of packages. Default: none. */
  packageFiles?: readonly string[];
}

export interface FoundAgent {
  name: string;
  source: AgentSource;
  /** Its directory or file. Undefined for an agent that comes with tau. */
  path: string | undefined;
  /** Undefined if its file cannot be read. It has its name all the same, so that no other agent is used instead. */
  agent: NamedAgent | undefined;
  problems: readonly ResourceProblem[];
}

interface AgentPath {
  source: AgentSource;
  path: string;
  isDirectory: boolean;
}

const maxFileBytes = 256 * 1024;
const maxFiles = 500;
/** Agents of Claude Code may be in subdirectories, up to this depth. */
const maxClaudeDepth = 3;

/**
 * Sorted by name. Of several agents with one name the first in the order of `AgentSource` is used, and each of the others is a
 * problem of it, but for one that comes with tau. At most 500 files are read.
 */
export async function findAgents(options: FindAgentsOptions): Promise<FoundAgent[]> {
  const { fileSystem = nodeFileSystem, agentDir, projectDirectories = [], packageFiles = [] } = options;
  const paths: AgentPath[] = [];
  for (const directory of projectDirectories) {
    const files = await listMarkdown(fileSystem, directory, directory.endsWith(claudeAgents) ? maxClaudeDepth : 0);
    paths.push(...files.map((path) => ({ source: "project" as const, path, isDirectory: false })));
  }
  paths.push(...(await listUserAgents(fileSystem, agentDir)));
  paths.push(...packageFiles.map((path) => ({ source: "package" as const, path, isDirectory: false })));
  const byName = new Map<string, FoundAgent>();
  for (const path of paths.slice(0, maxFiles)) {
    const found = await load(path, options);
    const first = byName.get(found.name);
    byName.set(found.name, first ? addCollision(first, path.path) : found);
  }
  for (const agent of listBuiltInAgents()) {
    const name = agent.name!;
    if (!byName.has(name)) byName.set(name, { name, source: "built-in", path: undefined, agent, problems: [] });
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Directories come first: a file must not take the place of an agent that was there before. */
async function listUserAgents(fs: FileSystem, agentDir: string): Promise<AgentPath[]> {
  const root = join(agentDir, "agents");
  const directories: AgentPath[] = [];
  for (const { name } of (await readDirectory(fs, root)).entries) {
    const path = join(root, name);
    if (isAgentName(name) && (await getPathKind(fs, path)) === "directory") {
      directories.push({ source: "user", path, isDirectory: true });
    }
  }
  const files = await listMarkdown(fs, root, 0);
  return [...directories, ...files.map((path) => ({ source: "user" as const, path, isDirectory: false }))];
}

async function listMarkdown(fs: FileSystem, directory: string, maxDepth: number): Promise<string[]> {
  const files: string[] = [];
  const deeper: string[] = [];
  for (const { name } of (await readDirectory(fs, directory)).entries) {
    if (name.startsWith(".") || name.toLowerCase() === "readme.md") continue;
    const path = join(directory, name);
    const kind = await getPathKind(fs, path);
    if (kind === "directory") deeper.push(path);
    // A link that leads nowhere is reported when it is read.
    else if (name.endsWith(".md")) files.push(path);
  }
  if (maxDepth === 0) return files;
  for (const path of deeper) files.push(...(await listMarkdown(fs, path, maxDepth - 1)));
  return files;
}

async function load({ source, path, isDirectory }: AgentPath, options: FindAgentsOptions): Promise<FoundAgent> {
  const { fileSystem = nodeFileSystem, lastGood } = options;
  if (isDirectory) {
    const before = lastGood?.directory === path ? { lastGood } : {};
    const agent = await loadAgentDirectory(path, basename(path), { fileSystem, ...before });
    return { name: basename(path), source, path, agent, problems: agent.problems };
  }
  const outcome = await readText(fileSystem, path, maxFileBytes);
  if (outcome.kind !== "text") {
    const problem =
      outcome.kind === "unusable"
        ? outcome.problem
        : createProblem("unreadable", { path }, "This is a link that leads nowhere. Restore its target, or remove it.");
    return { name: basename(path, ".md"), source, path, agent: undefined, problems: [problem] };
  }
  const agent = await parseAgentFile(path, outcome.text, source);
  const problems = [...(outcome.problem ? [outcome.problem] : []), ...agent.problems];
  return { name: agent.name!, source, path, agent: { ...agent, problems }, problems };
}

function addCollision(first: FoundAgent, path: string): FoundAgent {
  const text = `The agent ${first.name} of this file is ignored: ${first.path} has the same name and has precedence. Rename one of them.`;
  return { ...first, problems: [...first.problems, createProblem("collision", { path, key: "name" }, text)] };
}
