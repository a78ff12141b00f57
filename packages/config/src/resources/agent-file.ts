/**
 * Agents that are Markdown files: front matter and a prompt. The front matter of Claude Code and of pi's sub-agents is read
 * too. A field that cannot be used is a problem with its line, and never a reason to ignore the agent. A restriction that
 * cannot be understood restricts as much as possible.
 */
import { basename, dirname } from "node:path";
import { parseThinkingLevel } from "@tau/ai";
import { isRecord, nearestNames } from "@tau/ai/internal";
import { policyProfiles } from "@tau/policy/internal";
import {
  type AgentDefinition,
  agentNameRule,
  type AgentSource,
  isAgentName,
  type NamedAgent,
} from "./agent-definition.ts";
import { noTools } from "./agent-directory.ts";
import { fromClaudeTool } from "./claude-tools.ts";
import { type FieldValue, getFirstLine, parseFrontMatter, splitFrontMatter } from "./front-matter.ts";
import { readPlainFields } from "./plain-fields.ts";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import type { ToolChoices } from "./tools-yaml.ts";

const agentFields = [
  "name",
  "description",
  "model",
  "role",
  "thinking",
  "tools",
  "skills",
  "policy",
  "maxTurns",
  "isolated",
] as const;

/** Fields of Claude Code and opencode that limit or add something, and have no effect here. */
const unusedFields = ["permissionMode", "permission", "hooks", "mcpServers", "memory"];

/** Fields of Claude Code that are read besides ours, or have no effect that anybody would miss. */
const otherFields = ["disallowedTools", "effort", "isolation", "color", "background", "initialPrompt"];

/** `path` is a file of `source`. */
export async function parseAgentFile(path: string, text: string, source: AgentSource): Promise<NamedAgent> {
  const { fields, body, problem } = await parseFrontMatter(path, text);
  const reader = new FieldReader(path, problem ? readPlainFields(splitFrontMatter(text).yaml ?? "") : fields);
  if (problem) reader.problems.push({ ...problem, message: `${problem.message} Its lines are read as they are.` });
  reader.reportOthers();
  const definition: AgentDefinition = {
    source,
    path,
    description: readDescription(reader, body),
    ...readModel(reader),
    ...readThinking(reader),
    ...readSkills(reader),
    ...readPolicy(reader),
    ...readMaxTurns(reader),
    isolated: readIsolated(reader),
    lines: reader.getLines(),
  };
  return {
    name: readName(reader, basename(path, ".md")),
    directory: dirname(path),
    systemPrompt: body === "" ? undefined : { path, content: body },
    tools: readTools(reader),
    resourcesDir: undefined,
    definition,
    problems: reader.problems,
  };
}

class FieldReader {
  readonly problems: ResourceProblem[] = [];
  readonly #path: string;
  readonly #fields: ReadonlyMap<string, FieldValue>;

  constructor(path: string, fields: ReadonlyMap<string, FieldValue> = new Map()) {
    this.#path = path;
    this.#fields = fields;
  }

  get isEmpty(): boolean {
    return this.#fields.size === 0;
  }

  /** Undefined for a field that is missing or empty. */
  get(key: string): unknown {
    return this.#fields.get(key)?.value ?? undefined;
  }

  getLines(): Record<string, number> {
    return Object.fromEntries([...this.#fields].map(([key, { line }]) => [key, line]));
  }

  report(key: string, message: string): void {
    const line = this.#fields.get(key)?.line;
    this.problems.push(createProblem("invalid", { path: this.#path, line, key }, message));
  }

  /** Undefined, and a problem, for a value of another type. */
  getText(key: string): string | undefined {
    const value = this.get(key);
    if (value === undefined || typeof value === "string") return value?.trim() || undefined;
    this.report(key, `\`${key}\` has to be a string, so it is ignored. Put it in quotes.`);
    return undefined;
  }

  /** A list, or a string with commas. `wrong` if it is neither. */
  getNames(key: string): readonly string[] | "wrong" | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    const items = typeof value === "string" ? splitNames(value) : value;
    if (!Array.isArray(items)) return "wrong";
    const names = items.filter((item): item is string => typeof item === "string").map((name) => name.trim());
    if (names.length < items.length) this.report(key, `\`${key}\` has an entry that is not a name. It is ignored.`);
    return [...new Set(names.filter((name) => name !== ""))];
  }

  /** Other programs have fields of their own, so only those are reported that restrict, or look like one of ours. */
  reportOthers(): void {
    for (const key of this.#fields.keys()) {
      if ([...agentFields, ...otherFields].includes(key)) continue;
      const [similar] = nearestNames(key, agentFields, 2);
      if (unusedFields.includes(key)) this.report(key, `tau does not use \`${key}\` of an agent.`);
      else if (similar !== undefined) this.report(key, `There is no field \`${key}\`. Did you mean \`${similar}\`?`);
    }
  }
}

/** Commas within brackets belong to a name, as in `Bash(git diff, git log)`. */
const splitNames = (text: string): string[] => text.split(/,(?![^(]*\))/);

function readName(reader: FieldReader, fileName: string): string {
  const name = reader.getText("name") ?? fileName;
  if (isAgentName(name)) return name;
  const used = isAgentName(fileName) ? fileName : toAgentName(name);
  const text = `${JSON.stringify(name)} is not a valid name of an agent, so ${used} is used. Use ${agentNameRule}.`;
  reader.report("name", text);
  return used;
}

const toAgentName = (text: string): string => {
  const plain = text.replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, "-").replace(/^[^\p{L}\p{N}]+/u, "");
  return plain.slice(0, 64).toWellFormed() || "agent";
};

function readDescription(reader: FieldReader, body: string): string {
  const text = reader.getText("description");
  if (text !== undefined) return text.replaceAll(/\s+/g, " ");
  if (!reader.isEmpty)
    reader.report("description", "`description` is missing. Say what the agent does and when to use it.");
  return getFirstLine(body);
}

function readModel(reader: FieldReader): { model?: string } {
  const model = reader.getText("model");
  const role = reader.getText("role")?.replace(/^@/, "");
  if (model !== undefined && role !== undefined) {
    reader.report("role", "There are both `model` and `role`; the model is used. Remove one of them.");
  }
  // Claude Code's word for the model of the session.
  if (model !== undefined) return model === "inherit" ? {} : { model };
  return role === undefined ? {} : { model: `@${role}` };
}

function readThinking(reader: FieldReader): Pick<AgentDefinition, "thinkingLevel"> {
  const key = reader.get("thinking") === undefined ? "effort" : "thinking";
  // YAML has a boolean for `off` in some versions.
  const text = reader.get(key) === false ? "off" : reader.getText(key);
  if (text === undefined) return {};
  const thinkingLevel = parseThinkingLevel(text);
  if (thinkingLevel) return { thinkingLevel };
  reader.report(key, `There is no thinking level ${JSON.stringify(text)}, so that of the session is used.`);
  return {};
}

function readTools(reader: FieldReader): ToolChoices {
  const map = reader.get("tools");
  if (isRecord(map)) return readToolMap(reader, map);
  const names = reader.getNames("tools");
  const denied = reader.getNames("disallowedTools");
  if (names === "wrong" || denied === "wrong") {
    const key = names === "wrong" ? "tools" : "disallowedTools";
    reader.report(key, `\`${key}\` has to be a list of names, so the agent has no tools.`);
    return noTools;
  }
  const toName = (name: string) => fromClaudeTool(name.replace(/\(.*\)$/s, "").trim());
  return {
    only: names === undefined || names.includes("*") ? undefined : names.filter(isWhole(reader)).map(toName),
    tools: (denied ?? []).map((name) => ({ name: toName(name), enabled: false, options: {} })),
  };
}

/** opencode turns single tools on and off: `{ bash: false }`. A tool with another value is off. */
function readToolMap(reader: FieldReader, map: Readonly<Record<string, unknown>>): ToolChoices {
  const wrong = Object.keys(map).filter((name) => typeof map[name] !== "boolean");
  for (const name of wrong) reader.report("tools", `${name} has to be true or false. The tool is disabled.`);
  const toChoice = (name: string) => ({ name: fromClaudeTool(name), enabled: map[name] === true, options: {} });
  return { only: undefined, tools: Object.keys(map).map(toChoice) };
}

/** Claude Code can allow some calls of a tool, as in `Bash(git diff:*)`. All of them would be more than was allowed. */
const isWhole = (reader: FieldReader) => (name: string) => {
  const [, tool] = /^([^(]+)\(.*\)$/s.exec(name) ?? [];
  if (tool === undefined) return true;
  reader.report(
    "tools",
    `tau cannot limit a tool as ${name} does, so it is left out. Write ${tool} to allow all calls.`,
  );
  return false;
};

function readSkills(reader: FieldReader): Pick<AgentDefinition, "skills"> {
  const skills = reader.getNames("skills");
  if (skills === "wrong") reader.report("skills", "`skills` has to be a list of names, so it is ignored.");
  return skills === undefined || skills === "wrong" || skills.includes("*") ? {} : { skills };
}

function readPolicy(reader: FieldReader): Pick<AgentDefinition, "policyProfile"> {
  const value = reader.get("policy");
  if (value === undefined) return {};
  const profile = policyProfiles.find((name) => name === value);
  if (profile !== undefined) return { policyProfile: profile };
  const text = `There is no policy ${JSON.stringify(value)}, so safe is used. The policies are: ${policyProfiles.join(", ")}.`;
  reader.report("policy", text);
  return { policyProfile: "safe" };
}

function readMaxTurns(reader: FieldReader): Pick<AgentDefinition, "maxTurns"> {
  const value = reader.get("maxTurns");
  if (value === undefined) return {};
  const maxTurns = typeof value === "string" ? Number(value) : value;
  if (typeof maxTurns === "number" && Number.isSafeInteger(maxTurns) && maxTurns > 0) return { maxTurns };
  reader.report("maxTurns", "`maxTurns` has to be a whole number above 0, so it is ignored.");
  return {};
}

function readIsolated(reader: FieldReader): boolean {
  const value = reader.get("isolated");
  if (value === undefined) return reader.get("isolation") === "worktree";
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "false") return value === "true";
  reader.report("isolated", "`isolated` has to be true or false. It is taken for true.");
  return true;
}
