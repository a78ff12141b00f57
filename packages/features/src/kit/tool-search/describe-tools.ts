/** Describes tools for the search and for the model. What extensions and servers say is bounded and made visible. Pure. */
import type { ToolInfo } from "@tau/extensions";
import { asRecord } from "@tau/ai/internal";
import type { DiscoverableTool, DiscoverableToolSource } from "./search-index.ts";

const maxSummary = 200;
const maxKeys = 100;
const maxName = 128;
const maxDescription = 1_000;
const maxParameters = 4_000;
/** For all tools of one answer; the rest is named only. */
const maxText = 20_000;

/** A tool as the model was told of it. */
export interface ToolText {
  readonly name: string;
  readonly text: string;
}

export function toDiscoverableTool({
  name,
  label,
  description,
  parameters,
  sourceInfo,
  namespace,
}: ToolInfo): DiscoverableTool {
  const [, server, mcpToolName] = /^mcp__(.+?)__(.+)$/su.exec(name) ?? [];
  const serverName = server === undefined ? undefined : (namespace?.name ?? server);
  return {
    name,
    label: label ?? name,
    summary: description.slice(0, maxSummary),
    source: server === undefined ? toSource(sourceInfo.source) : "mcp",
    ...(serverName !== undefined && { serverName }),
    ...(mcpToolName !== undefined && { mcpToolName }),
    schemaKeys: Object.keys(asRecord(asRecord(parameters)["properties"])).slice(0, maxKeys),
  };
}

const toSource = (source: string): DiscoverableToolSource =>
  source === "feature" ? "builtin" : source === "inline" ? "custom" : "extension";

export function describeTool({ name, description, parameters }: ToolInfo): ToolText {
  const lines = [
    `## ${toVisible(name, maxName)}`,
    toVisible(description, maxDescription),
    formatParameters(parameters),
  ];
  return { name, text: lines.filter(Boolean).join("\n") };
}

/** Joins the descriptions of tools, as many as fit. */
export function joinTexts(tools: readonly ToolText[], maxCharacters = maxText): string {
  const shown: string[] = [];
  const named: string[] = [];
  let left = maxCharacters;
  for (const { name, text } of tools) {
    left -= text.length;
    if (left >= 0 || shown.length === 0) shown.push(text);
    else named.push(toVisible(name, maxName));
  }
  return [...shown, ...(named.length > 0 ? [`Not shown, to keep this short: ${named.join(", ")}`] : [])].join("\n\n");
}

function formatParameters(parameters: unknown): string {
  const json = JSON.stringify(parameters) ?? "{}";
  if (json.length <= maxParameters) return `Parameters: ${toVisible(json, maxParameters)}`;
  const { properties, required } = asRecord(parameters);
  const needed = new Set(Array.isArray(required) ? required : []);
  const names = Object.entries(asRecord(properties)).map(([key, value]) => {
    const { type } = asRecord(value);
    return `${key}${needed.has(key) ? "" : "?"}: ${typeof type === "string" ? type : "any"}`;
  });
  return `Parameters (their schema is too long to show): { ${toVisible(names.join(", "), maxParameters)} }`;
}

/** `text` with everything written out that cannot be seen or acts on a terminal. Line breaks and tabs stay. */
export function toVisible(text: string, max: number): string {
  const visible = text
    .slice(0, max + 1)
    .replaceAll(
      /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
    );
  return visible.length > max ? `${visible.slice(0, max - 1).toWellFormed()}…` : visible;
}
