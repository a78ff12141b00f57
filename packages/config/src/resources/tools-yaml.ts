/**
 * `tools.yaml` of a named agent. A list has all tools of the agent; a map changes single tools:
 *
 *     tools: [read, grep]
 *     tools: { bash: { enabled: false }, read: {} }
 */
import { assertNever } from "@tau/ai/internal";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import { parseYaml, type YamlEntry, type YamlRoot } from "./yaml.ts";

export interface ToolChoices {
  /** All tools of the agent. Undefined for the default tools. */
  only: readonly string[] | undefined;
  /** The tools of a map, in its order. */
  tools: readonly ToolChoice[];
}

export interface ToolChoice {
  name: string;
  /** Default true. */
  enabled: boolean;
  /** All other fields, which the tool checks. */
  options: Readonly<Record<string, unknown>>;
}

/** `choices` is undefined if the file cannot be understood. */
interface ToolsYaml {
  choices: ToolChoices | undefined;
  problems: ResourceProblem[];
}

/** Whether there are tools of these names is up to the session. */
export async function parseToolsYaml(path: string, text: string): Promise<ToolsYaml> {
  const problems: ResourceProblem[] = [];
  const report: Report = (line, key, message) => problems.push(createProblem("invalid", { path, line, key }, message));
  if (text.trim() === "") {
    // A crash may have left it.
    report(1, undefined, "The file is empty, so no tools are allowed. Write `tools:` into it, or remove it.");
    return { choices: undefined, problems };
  }
  const parsed = await parseYaml(path, text);
  if (parsed.kind === "invalid") return { choices: undefined, problems: [parsed.problem] };
  return { choices: getChoices(parsed.root, report), problems };
}

type Report = (line: number, key: string | undefined, message: string) => void;

function getChoices(root: YamlRoot, report: Report): ToolChoices | undefined {
  if (root.kind === "empty") return { only: undefined, tools: [] };
  if (root.kind !== "map") {
    report(1, undefined, "The file has to have `tools:` with a list or a map of tools.");
    return undefined;
  }
  const unknown = [...root.entries].filter(([key]) => key !== "tools");
  for (const [key, { line }] of unknown) {
    report(line, key, `The key ${JSON.stringify(key)} is unknown, so no tools are allowed. Use \`tools\`.`);
  }
  // What it says may have been meant as a restriction.
  if (unknown.length > 0) return undefined;
  const entry = root.entries.get("tools");
  const below = entry?.below() ?? { kind: "empty" };
  switch (below.kind) {
    case "empty":
      return { only: undefined, tools: [] };
    case "list":
      return { only: getNames(below.items, report), tools: [] };
    case "map": {
      const tools = [...below.entries].map(([name, entry]) => ({ name, ...getChoice(name, entry, report) }));
      return { only: undefined, tools };
    }
    case "scalar":
      report(entry!.line, "tools", "`tools` has to be a list of names, or a map from names to options.");
      return undefined;
    default:
      return assertNever(below);
  }
}

function getNames(items: readonly YamlEntry[], report: Report): string[] {
  const names = new Set<string>();
  for (const { value, line } of items) {
    if (typeof value !== "string")
      report(line, "tools", `${JSON.stringify(value)} is not the name of a tool and is ignored.`);
    else names.add(value);
  }
  return [...names];
}

/** A tool with an error is disabled, since the user may have wanted to restrict it. */
function getChoice(name: string, entry: YamlEntry, report: Report): Omit<ToolChoice, "name"> {
  if (typeof entry.value === "boolean") return { enabled: entry.value, options: {} };
  const below = entry.below();
  if (below.kind === "empty") return { enabled: true, options: {} };
  if (below.kind !== "map") {
    const message = `The options of ${name} have to be a map, such as { enabled: false }. The tool is disabled.`;
    report(entry.line, `tools.${name}`, message);
    return { enabled: false, options: {} };
  }
  const enabled = below.entries.get("enabled");
  if (enabled && typeof enabled.value !== "boolean") {
    const message = `\`enabled\` of ${name} has to be true or false, not ${JSON.stringify(enabled.value)}. The tool is disabled.`;
    report(enabled.line, `tools.${name}.enabled`, message);
  }
  const rest = [...below.entries].filter(([key]) => key !== "enabled").map(([key, { value }]) => [key, value] as const);
  return { enabled: enabled ? enabled.value === true : true, options: Object.fromEntries(rest) };
}
