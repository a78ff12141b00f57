/** The offers of a server, within limits: a server may send anything. Pure but for the digest. */
import { createHash } from "node:crypto";
import { isRecord } from "@tau/ai/internal";
import { sortKeys } from "./parse-entries.ts";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";

export interface McpToolDefinition {
  /** The name that the server gave it. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** Always describes an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: {
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint?: boolean;
  };
}

export interface McpPromptDefinition {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
}

export interface McpDefinitions {
  readonly tools: readonly McpToolDefinition[];
  readonly prompts: readonly McpPromptDefinition[];
  readonly hasResources: boolean;
  /** The text of the server about itself. Shown to people, never given to a model. */
  readonly instructions?: string;
}

/** A resource as it is suggested to people. */
export interface McpResource {
  readonly uri: string;
  readonly title: string;
}

const maxTools = 1_000;
const maxPrompts = 200;
const maxResources = 2_000;
const maxNameLength = 256;
const maxUriLength = 2_000;
const maxDescriptionLength = 4_000;
const maxSchemaBytes = 64 * 1024;
const maxSchemaDepth = 32;

/** Parsed definitions, with a sentence for each that cannot be used. */
interface ParsedDefinitions<T> {
  readonly definitions: readonly T[];
  readonly problems: readonly string[];
}

/** Leaves out tools that cannot be offered to a model. */
export function parseTools(tools: readonly unknown[]): ParsedDefinitions<McpToolDefinition> {
  return parseEach(
    tools.slice(0, maxTools),
    (tool) => {
      if (!isRecord(tool) || !isUsableName(tool["name"])) return "A tool has no name that can be used.";
      const { name, title, description, inputSchema, outputSchema, annotations } = tool;
      const wrong = checkSchema(inputSchema);
      if (wrong !== undefined) return `The schema of the tool ${toVisibleLine(name, 100)} ${wrong}.`;
      return {
        name,
        ...(typeof title === "string" && { title: toVisibleLine(title, 200) }),
        description: toText(description),
        inputSchema: toObjectSchema(inputSchema as Record<string, unknown>),
        // One that is too large costs the check of results, not the tool.
        ...(isRecord(outputSchema) && checkSchema(outputSchema) === undefined && { outputSchema }),
        ...(isRecord(annotations) && { annotations: pickHints(annotations) }),
      };
    },
    tools.length > maxTools ? [`It has ${tools.length} tools, of which the first ${maxTools} are used.`] : [],
  );
}

export function parsePrompts(prompts: readonly unknown[]): ParsedDefinitions<McpPromptDefinition> {
  return parseEach(prompts.slice(0, maxPrompts), (prompt) => {
    if (!isRecord(prompt) || !isUsableName(prompt["name"])) return "A prompt has no name that can be used.";
    const list: unknown = prompt["arguments"];
    const parts = (Array.isArray(list) ? list : []).filter(isRecord).filter(({ name }) => isUsableName(name));
    return {
      name: prompt["name"],
      description: toText(prompt["description"]),
      arguments: parts.slice(0, 50).map(({ name, description, required }) => ({
        name: name as string,
        description: toText(description),
        required: required === true,
      })),
    };
  });
}

/** Leaves out resources whose address cannot be written in a prompt. */
export const parseResources = (resources: readonly unknown[]): McpResource[] =>
  resources.slice(0, maxResources).flatMap((resource) => {
    const { uri, title, name } = isRecord(resource) ? resource : {};
    const isUsable = typeof uri === "string" && uri.length <= maxUriLength && toVisibleLine(uri, maxUriLength) === uri;
    if (!isUsable || uri === "") return [];
    return [{ uri, title: toVisibleLine([title, name].find((text) => typeof text === "string") ?? "", 200) }];
  });

function parseEach<T>(
  list: readonly unknown[],
  parse: (value: unknown) => (T & { name: string }) | string,
  problems: readonly string[] = [],
): ParsedDefinitions<T> {
  const byName = new Map<string, T>();
  const wrong = [...problems];
  for (const value of list) {
    const parsed = parse(value);
    if (typeof parsed === "string") wrong.push(parsed);
    else if (byName.has(parsed.name))
      wrong.push(`Two are called ${toVisibleLine(parsed.name, 100)}; the first is used.`);
    else byName.set(parsed.name, parsed);
  }
  return { definitions: [...byName.values()], problems: [...new Set(wrong)].slice(0, 20) };
}

const isUsableName = (name: unknown): name is string =>
  typeof name === "string" && name.trim() !== "" && name.length <= maxNameLength;

function toText(value: unknown): string {
  const text = typeof value === "string" ? toVisible(value.slice(0, maxDescriptionLength + 1)) : "";
  return text.length > maxDescriptionLength ? `${text.slice(0, maxDescriptionLength - 1)}…` : text;
}

const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

const pickHints = (annotations: Record<string, unknown>): NonNullable<McpToolDefinition["annotations"]> =>
  Object.fromEntries(
    hints.filter((name) => typeof annotations[name] === "boolean").map((name) => [name, annotations[name]]),
  );

/** Completes "The schema …"; undefined if it can be used. */
function checkSchema(schema: unknown): string | undefined {
  if (!isRecord(schema)) return "is not an object";
  if (isTooDeep(schema, maxSchemaDepth)) return `is more than ${maxSchemaDepth} levels deep`;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  return bytes > maxSchemaBytes ? `has ${bytes} bytes, and the limit is ${maxSchemaBytes}` : undefined;
}

const isTooDeep = (value: unknown, left: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (left === 0 || Object.values(value).some((each) => isTooDeep(each, left - 1)));

/** Arguments are always an object, and providers refuse a schema that does not say so. */
const toObjectSchema = (schema: Record<string, unknown>): Record<string, unknown> => ({
  ...schema,
  type: "object",
  ...(!isRecord(schema["properties"]) && { properties: {} }),
});

/** Identifies what a model and a person see of a tool. */
export const digestTool = (tool: McpToolDefinition): string =>
  createHash("sha256")
    .update(JSON.stringify(sortKeys(tool)))
    .digest("hex")
    .slice(0, 32);

/** At most so many tools of a server are remembered. */
const maxDigests = 2 * maxTools;

/**
 * Digests by the names of the tools. Those that were accepted and are gone stay, the latest of them: a server must not change a
 * definition without a question by leaving it out once.
 */
export function addDigests(
  accepted: Readonly<Record<string, string>> = {},
  tools: readonly McpToolDefinition[],
): Record<string, string> {
  const digests = new Map(Object.entries(accepted));
  for (const tool of tools) {
    digests.delete(tool.name);
    digests.set(tool.name, digestTool(tool));
  }
  return Object.fromEntries([...digests].slice(-maxDigests));
}

/** Names the tools whose definitions are other than those that were accepted. New ones are not among them. */
export const findChangedTools = (
  tools: readonly McpToolDefinition[],
  accepted: Readonly<Record<string, string>>,
): McpToolDefinition[] =>
  tools.filter((tool) => Object.hasOwn(accepted, tool.name) && accepted[tool.name] !== digestTool(tool));

/** Says for people what is different in a tool. `before` is undefined if it is not known any more. */
export function describeChange(before: McpToolDefinition | undefined, after: McpToolDefinition): string[] {
  const name = toVisibleLine(after.name, 100);
  if (!before) return [`${name}: ${toVisibleLine(after.description, 300)}`];
  const lines: string[] = [];
  if (before.description !== after.description)
    lines.push(`  was: ${toVisibleLine(before.description, 300)}`, `  now: ${toVisibleLine(after.description, 300)}`);
  const isSame = (key: keyof McpToolDefinition) =>
    JSON.stringify(sortKeys(before[key])) === JSON.stringify(sortKeys(after[key]));
  if (!isSame("inputSchema")) lines.push(`  other parameters: ${listParameters(before)} → ${listParameters(after)}`);
  if (!isSame("annotations"))
    lines.push(
      `  other hints: ${JSON.stringify(before.annotations ?? {})} → ${JSON.stringify(after.annotations ?? {})}`,
    );
  if (!isSame("outputSchema")) lines.push("  another form of results");
  return [`${name}:`, ...lines];
}

const listParameters = ({ inputSchema }: McpToolDefinition): string =>
  toVisibleLine(Object.keys(inputSchema["properties"] ?? {}).join(", ") || "none", 200);
