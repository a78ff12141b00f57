/**
 * `tools.yaml` of a named agent. A list says which tools it has and no others; a map changes single ones:
 *
 *     tools: [read, grep]
 *     tools: { bash: { enabled: false }, read: {} }
 */
import { assertNever, didYouMean } from "@tau/ai";
import { problemAt, type ResourceProblem } from "./problem.ts";
import { parseYaml, type YamlEntry, type YamlRoot } from "./yaml.ts";

export interface ToolChoices {
  /** The tools it has and no others; undefined leaves the usual ones. */
  only: readonly string[] | undefined;
  /** Those that are named in a map, in its order. */
  tools: readonly ToolChoice[];
}

export interface ToolChoice {
  name: string;
  /** Default true: who names a tool wants it. */
  enabled: boolean;
  /** Everything else that stands there, for the tool to judge. */
  options: Readonly<Record<string, unknown>>;
}

/** `choices` is undefined when nothing can be told from the file. */
export interface ToolsYaml {
  choices: ToolChoices | undefined;
  problems: ResourceProblem[];
}

/** With `known`, a name that is none of them is reported and kept: a tool may also come from elsewhere. */
export async function parseToolsYaml(path: string, text: string, known?: readonly string[]): Promise<ToolsYaml> {
  const parsed = await parseYaml(path, text);
  if (parsed.kind === "invalid") return { choices: undefined, problems: [parsed.problem] };
  const problems: ResourceProblem[] = [];
  const report: Report = (line, key, words) => problems.push(problemAt("invalid", { path, line, key }, words));
  return { choices: getChoices(parsed.root, known, report), problems };
}

type Report = (line: number, key: string | undefined, words: string) => void;

function getChoices(root: YamlRoot, known: readonly string[] | undefined, report: Report): ToolChoices | undefined {
  if (root.kind === "empty") return { only: undefined, tools: [] };
  if (root.kind !== "map") {
    report(1, undefined, "expected `tools:` with a list or a map of tools below it.");
    return undefined;
  }
  for (const [key, { line }] of root.entries) {
    if (key !== "tools")
      report(line, key, `there is no key ${JSON.stringify(key)} here; it is ignored. Use \`tools\`.`);
  }
  const entry = root.entries.get("tools");
  const below = entry?.below() ?? { kind: "empty" };
  switch (below.kind) {
    case "empty":
      return { only: undefined, tools: [] };
    case "list":
      return { only: getNames(below.items, known, report), tools: [] };
    case "map": {
      const tools = [...below.entries].map(([name, entry]) => {
        checkName(name, entry.line, known, report);
        return { name, ...getChoice(name, entry, report) };
      });
      return { only: undefined, tools };
    }
    case "scalar":
      report(entry!.line, "tools", "`tools` is a list of names, or a map from names to what is set for them.");
      return undefined;
    default:
      return assertNever(below);
  }
}

function getNames(items: readonly YamlEntry[], known: readonly string[] | undefined, report: Report): string[] {
  const names = new Set<string>();
  for (const { value, line } of items) {
    if (typeof value !== "string")
      report(line, "tools", `${JSON.stringify(value)} is not a tool's name; it is ignored.`);
    else {
      checkName(value, line, known, report);
      names.add(value);
    }
  }
  return [...names];
}

function checkName(name: string, line: number, known: readonly string[] | undefined, report: Report): void {
  if (!known || known.includes(name)) return;
  report(line, `tools.${name}`, `there is no tool ${JSON.stringify(name)} built in.${didYouMean(name, known)}`);
}

/** Who tried to say something about a tool and failed is better off without it. */
function getChoice(name: string, entry: YamlEntry, report: Report): Omit<ToolChoice, "name"> {
  if (typeof entry.value === "boolean") return { enabled: entry.value, options: {} };
  const below = entry.below();
  if (below.kind === "empty") return { enabled: true, options: {} };
  if (below.kind !== "map") {
    const words = `what is set for ${name} is a map, such as { enabled: false }. The tool is left off.`;
    report(entry.line, `tools.${name}`, words);
    return { enabled: false, options: {} };
  }
  const enabled = below.entries.get("enabled");
  if (enabled && typeof enabled.value !== "boolean") {
    const words = `\`enabled\` of ${name} is ${JSON.stringify(enabled.value)}; it is true or false. The tool is left off.`;
    report(enabled.line, `tools.${name}.enabled`, words);
  }
  const rest = [...below.entries].filter(([key]) => key !== "enabled").map(([key, { value }]) => [key, value] as const);
  return { enabled: enabled ? enabled.value === true : true, options: Object.fromEntries(rest) };
}
