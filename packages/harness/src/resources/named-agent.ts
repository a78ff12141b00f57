/** Agents with a name: `agents/NAME` in the agent directory, each with its own prompt, tools and resources. */
import { join } from "node:path";
import { didYouMean } from "@tau/ai";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import type { TextFile } from "./context-files.ts";
import type { ResourceProblem } from "./problem.ts";
import { kindOfPath, listDirectory, readText } from "./read-text.ts";
import { loadSystemFile } from "./system-files.ts";
import { parseToolsYaml, type ToolChoices } from "./tools-yaml.ts";

export interface NamedAgent {
  name: string;
  directory: string;
  /** `system-prompt.md`: takes the place of the default prompt and of every `SYSTEM.md`. */
  systemPrompt: TextFile | undefined;
  /** `tools.yaml`. */
  tools: ToolChoices;
  /** `resources/`, whose `skills` and `prompts` are the agent's own; undefined where there is none. */
  resourcesDir: string | undefined;
  problems: readonly ResourceProblem[];
}

export interface NamedAgentOptions {
  fileSystem?: FileSystem;
  /** Names that `tools.yaml` may use without being asked about. */
  knownTools?: readonly string[];
  /** What was loaded before: it stays in force where a file can no longer be read. */
  lastGood?: NamedAgent;
}

const maxToolsBytes = 256 * 1024;

/** Throws when the name cannot be one, or there is no such agent: nobody else should answer in its place. */
export async function loadNamedAgent(
  agentDir: string,
  name: string,
  options: NamedAgentOptions = {},
): Promise<NamedAgent> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    const rule = "letters, digits, '-', '_' and '.', at most 64, beginning with a letter or digit";
    throw new HarnessError("invalid_input", `${JSON.stringify(name)} cannot be the name of an agent: use ${rule}.`);
  }
  const { fileSystem = nodeFileSystem } = options;
  const directory = join(agentDir, "agents", name);
  if ((await kindOfPath(fileSystem, directory)) !== "directory") {
    const names = await listNamedAgents(agentDir, { fileSystem });
    const text = `There is no agent ${JSON.stringify(name)}.${didYouMean(name, names)} Make the directory ${directory}.`;
    throw new HarnessError("invalid_input", text);
  }
  return await loadAgentFiles(directory, name, options);
}

async function loadAgentFiles(
  directory: string,
  name: string,
  { fileSystem: fs = nodeFileSystem, knownTools, lastGood }: NamedAgentOptions,
): Promise<NamedAgent> {
  const before = lastGood?.systemPrompt;
  const prompt = await loadSystemFile({
    fileSystem: fs,
    paths: [join(directory, "system-prompt.md")],
    lastGood: new Map(before && [[before.path, before]]),
  });
  const tools = await loadTools(fs, join(directory, "tools.yaml"), { knownTools, lastGood });
  const resourcesDir = join(directory, "resources");
  return {
    name,
    directory,
    systemPrompt: prompt.value,
    tools: tools.choices,
    resourcesDir: (await kindOfPath(fs, resourcesDir)) === "directory" ? resourcesDir : undefined,
    problems: [...prompt.problems, ...tools.problems],
  };
}

async function loadTools(
  fs: FileSystem,
  path: string,
  { knownTools, lastGood }: { knownTools: readonly string[] | undefined; lastGood: NamedAgent | undefined },
) {
  const usual: ToolChoices = { only: undefined, tools: [] };
  const outcome = await readText(fs, path, maxToolsBytes);
  if (outcome.kind === "missing") return { choices: usual, problems: [] };
  const instead = lastGood?.tools ?? noTools;
  // Half a list of tools is another list.
  if (outcome.kind === "unusable" || outcome.problem) {
    return { choices: instead, problems: outcome.problem ? [outcome.problem] : [] };
  }
  const { choices = instead, problems } = await parseToolsYaml(path, outcome.text, knownTools);
  return { choices, problems };
}

/** Somebody wanted to say which tools there are and cannot be understood: that must not turn a tool on. */
const noTools: ToolChoices = { only: [], tools: [] };

/** Sorted. */
export async function listNamedAgents(
  agentDir: string,
  { fileSystem: fs = nodeFileSystem }: { fileSystem?: FileSystem } = {},
): Promise<string[]> {
  const directory = join(agentDir, "agents");
  const names: string[] = [];
  for (const { name } of (await listDirectory(fs, directory)).entries) {
    if (!name.startsWith(".") && (await kindOfPath(fs, join(directory, name))) === "directory") names.push(name);
  }
  return names;
}
