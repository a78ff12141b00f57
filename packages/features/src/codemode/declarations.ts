/** Declarations in TypeScript of tools, from their JSON Schemas. Pure. Texts of extensions and servers are bounded. */
import { asRecord, isRecord } from "@tau/ai/internal";
import { toVisible } from "../kit/visible-text.ts";

export interface DeclaredTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
  readonly outputSchema?: unknown;
  readonly promptGuidelines?: readonly unknown[] | undefined;
}

const maxDepth = 6;
const maxKeys = 100;
const maxTypeLength = 4_000;
const maxDescription = 1_000;
const maxComment = 200;

/** Converts characters that an identifier cannot have. */
export function toIdentifier(name: string): string {
  const identifier = name.replaceAll(/[^\p{ID_Continue}$]/gu, "_");
  return /^[\p{ID_Start}$_]/u.test(identifier) ? identifier : `_${identifier}`;
}

const bashResult =
  "{ output: string; truncated: boolean; full_output_path?: string; exit_code: number | null; wall_time_seconds: number }";
const readResult = '(string | { type: "image"; data: string; mimeType: string; note: string })';
const callToolResult = "{ content: object[]; structuredContent?: unknown; isError?: boolean }";

/** The type of the value that a call of a tool resolves to. */
function getResultType({ name, outputSchema }: Pick<DeclaredTool, "name" | "outputSchema">): string {
  if (name === "bash") return bashResult;
  if (name === "read") return readResult;
  if (name.startsWith("mcp__")) return callToolResult;
  return isRecord(outputSchema) ? toType(outputSchema) : "string";
}

/** The declaration with the description before it. */
export function declareTool(tool: DeclaredTool): string {
  const { description, promptGuidelines = [] } = tool;
  // Built-in tools have guidelines that depend on other tools; these are in the system prompt.
  const guidelines = promptGuidelines.filter((line) => typeof line === "string");
  return [
    toVisible(description).slice(0, maxDescription),
    ...guidelines.map((line) => `- ${toVisible(line).slice(0, maxComment)}`),
    declare(tool),
  ]
    .filter(Boolean)
    .join("\n");
}

export const declare = (tool: DeclaredTool): string =>
  `tools.${toIdentifier(tool.name)}(args: ${toType(tool.parameters)}): Promise<${getResultType(tool)}>`;

/** The type of a JSON Schema. What it says beyond that, such as limits, is left out. */
function toType(schema: unknown): string {
  const type = convert(schema, 0);
  return type.length > maxTypeLength ? "object" : type;
}

function convert(schema: unknown, depth: number): string {
  if (!isRecord(schema) || depth > maxDepth) return "unknown";
  if ("const" in schema) return toLiteral(schema["const"]);
  if (Array.isArray(schema["enum"])) return union(schema["enum"].slice(0, maxKeys).map(toLiteral));
  for (const key of ["anyOf", "oneOf"]) {
    const choices = schema[key];
    if (Array.isArray(choices)) return union(choices.slice(0, maxKeys).map((choice) => convert(choice, depth + 1)));
  }
  const { type } = schema;
  if (Array.isArray(type)) return union(type.map((each) => convert({ ...schema, type: each as unknown }, depth)));
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return `${group(convert(schema["items"], depth + 1))}[]`;
    default:
      return type === "object" || "properties" in schema ? toObject(schema, depth) : "unknown";
  }
}

function toObject(schema: Readonly<Record<string, unknown>>, depth: number): string {
  const properties = Object.entries(asRecord(schema["properties"])).slice(0, maxKeys);
  const needed = new Set(Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : []);
  if (properties.length === 0) {
    const { additionalProperties } = schema;
    return isRecord(additionalProperties) ? `Record<string, ${convert(additionalProperties, depth + 1)}>` : "object";
  }
  const members = properties.map(([key, value]) => {
    const name = toIdentifier(key) === key ? key : toLiteral(key);
    const { description } = asRecord(value);
    const comment = typeof description === "string" && depth === 0 ? ` /* ${toComment(description)} */` : "";
    return `${name}${needed.has(key) ? "" : "?"}: ${convert(value, depth + 1)}${comment}`;
  });
  return `{ ${members.join("; ")} }`;
}

const toComment = (text: string): string =>
  toVisible(text.replaceAll(/\s+/g, " ")).slice(0, maxComment).replaceAll("*/", "* /").trim();

const toLiteral = (value: unknown): string => (JSON.stringify(value) ?? "unknown").slice(0, maxComment);

const union = (types: readonly string[]): string => [...new Set(types)].join(" | ") || "never";

const group = (type: string): string => (type.includes(" | ") ? `(${type})` : type);
