/** Agents that are directories, with a prompt, tools and resources. */
import { join } from "node:path";
import { orUndefined } from "@tau/tools/durable";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import type { NamedAgent } from "./agent-definition.ts";
import { createProblem } from "./resource-problem.ts";
import { getPathKind, readText } from "./read-text.ts";
import { loadSystemFile } from "./system-files.ts";
import { parseToolsYaml, type ToolChoices } from "./tools-yaml.ts";

export interface AgentDirectoryOptions {
  fileSystem?: FileSystem;
  /** The last loaded state, for files that cannot be read. */
  lastGood?: NamedAgent;
}

const maxToolsBytes = 256 * 1024;

/** Lists the files that an agent may have in its directory. */
export const agentFilePaths = (directory: string): string[] =>
  ["system-prompt.md", "tools.yaml", "resources"].map((name) => join(directory, name));

export async function loadAgentDirectory(
  directory: string,
  name: string | undefined,
  options: AgentDirectoryOptions,
): Promise<NamedAgent> {
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

async function loadTools(fs: FileSystem, path: string, { lastGood }: AgentDirectoryOptions) {
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
export const noTools: ToolChoices = { only: [], tools: [] };
