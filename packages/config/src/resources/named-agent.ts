/**
 * Agents: directories with a prompt, tools and resources. `agents/NAME` in the agent directory are named agents; without a
 * name the agent directory itself is used.
 */
import { join } from "node:path";
import { didYouMean } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { orUndefined } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";
import type { TextFile } from "./context-files.ts";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import { getPathKind, readDirectory, readText } from "./read-text.ts";
import { loadSystemFile } from "./system-files.ts";
import { parseToolsYaml, type ToolChoices } from "./tools-yaml.ts";

export interface NamedAgent {
  /** Undefined for the agent directory itself. */
  name: string | undefined;
  directory: string;
  /** `system-prompt.md`: replaces the default prompt and every `SYSTEM.md`. */
  systemPrompt: TextFile | undefined;
  /** `tools.yaml`. */
  tools: ToolChoices;
  /** `resources/`, with `skills` and `prompts` of this agent. Undefined if it does not exist. */
  resourcesDir: string | undefined;
  problems: readonly ResourceProblem[];
}

export interface NamedAgentOptions {
  fileSystem?: FileSystem;
  /** The last loaded state, for files that cannot be read. */
  lastGood?: NamedAgent;
}

const maxToolsBytes = 256 * 1024;

/** Throws for a name that is not valid, or if there is no such agent: no other agent is used instead. */
export async function loadNamedAgent(
  agentDir: string,
  name: string,
  options: NamedAgentOptions = {},
): Promise<NamedAgent> {
  if (!isName(name)) {
    const rule = "letters, digits, '-', '_' and '.', at most 64, beginning with a letter or digit";
    throw new HarnessError("invalid_input", `${JSON.stringify(name)} is not a valid name of an agent. Use ${rule}.`);
  }
  const { fileSystem = nodeFileSystem } = options;
  const directory = join(agentDir, "agents", name);
  if ((await getPathKind(fileSystem, directory)) !== "directory") {
    const names = await listNamedAgents(agentDir, { fileSystem });
    const list = names.length === 0 ? "There are none yet." : `There are: ${names.join(", ")}.`;
    const text = `There is no agent ${JSON.stringify(name)}.${didYouMean(name, names)} ${list} To add it, create the directory ${directory}.`;
    throw new HarnessError("invalid_input", text);
  }
  return await loadFiles(directory, name, options);
}

/** The files of the agent directory itself. Undefined if it has none of them. */
export async function loadOwnAgent(agentDir: string, options: NamedAgentOptions = {}): Promise<NamedAgent | undefined> {
  const agent = await loadFiles(agentDir, undefined, options);
  const { systemPrompt, tools, resourcesDir, problems } = agent;
  const isEmpty = !systemPrompt && resourcesDir === undefined && !tools.only && tools.tools.length === 0;
  return isEmpty && problems.length === 0 ? undefined : agent;
}

/** In any script: users name their agents in their own language. */
const isName = (text: string): boolean => /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,63}$/u.test(text);

/** Lists the files that an agent may have in its directory. */
export const agentFilePaths = (directory: string): string[] =>
  ["system-prompt.md", "tools.yaml", "resources"].map((name) => join(directory, name));

async function loadFiles(directory: string, name: string | undefined, options: NamedAgentOptions): Promise<NamedAgent> {
  const { fileSystem = nodeFileSystem, lastGood } = options;
  const [promptPath = "", toolsPath = "", resourcesDir = ""] = agentFilePaths(directory);
  const before = lastGood?.systemPrompt;
  const prompt = await loadSystemFile({
    fileSystem,
    paths: [promptPath],
    lastGood: new Map(before && [[before.path, before]]),
  });
  const tools = await loadTools(fileSystem, toolsPath, options);
  return {
    name,
    directory,
    systemPrompt: prompt.value,
    tools: tools.choices,
    resourcesDir: (await getPathKind(fileSystem, resourcesDir)) === "directory" ? resourcesDir : undefined,
    problems: [...prompt.problems, ...tools.problems],
  };
}

async function loadTools(fs: FileSystem, path: string, { lastGood }: NamedAgentOptions) {
  const defaults: ToolChoices = { only: undefined, tools: [] };
  const outcome = await readText(fs, path, maxToolsBytes);
  const fallback = lastGood?.tools ?? noTools;
  if (outcome.kind === "missing") {
    if (!(await orUndefined(fs.lstat(path)))) return { choices: defaults, problems: [] };
    const text = "This is a link that leads nowhere. Restore its target, or remove it.";
    return { choices: fallback, problems: [createProblem("unreadable", { path }, text)] };
  }
  // The beginning of a list of tools would be a wrong list.
  if (outcome.kind === "unusable" || outcome.problem) {
    return { choices: fallback, problems: outcome.problem ? [outcome.problem] : [] };
  }
  const { choices = fallback, problems } = await parseToolsYaml(path, outcome.text);
  return { choices, problems };
}

/** For a file that cannot be understood: it must not enable a tool that the user wanted to disable. */
const noTools: ToolChoices = { only: [], tools: [] };

/** Sorted by name. */
export async function listNamedAgents(
  agentDir: string,
  { fileSystem: fs = nodeFileSystem }: { fileSystem?: FileSystem } = {},
): Promise<string[]> {
  const directory = join(agentDir, "agents");
  const names: string[] = [];
  for (const { name } of (await readDirectory(fs, directory)).entries) {
    if (isName(name) && (await getPathKind(fs, join(directory, name))) === "directory") names.push(name);
  }
  return names;
}
