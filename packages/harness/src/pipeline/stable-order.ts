/** What keeps the beginning of a request the same, so that a provider finds it in its cache. Pure. */
import type { AgentTool } from "@tau/agent";
import { wireSchema } from "./wire-schema.ts";

/** The tools of `after`: those that were there before, by name, in the order they had, then the others in their own. */
export function keepOrder(before: readonly AgentTool[], after: readonly AgentTool[]): AgentTool[] {
  const places = new Map(before.map(({ name }, at) => [name, at]));
  const getPlace = ({ name }: AgentTool) => places.get(name) ?? before.length;
  return after.toSorted((a, b) => getPlace(a) - getPlace(b));
}

/** What a model is shown of the tools, in order. Equal texts mean that this part of a request has not changed. */
export const toolsPrefix = (tools: readonly AgentTool[]): string => `[${tools.map(toolPrefix).join(",")}]`;

const prefixes = new WeakMap<AgentTool, string>();

/** What a model is shown of one tool, as JSON. Kept by identity: who changes a tool makes a new object. */
export function toolPrefix(tool: AgentTool): string {
  const known = prefixes.get(tool);
  if (known !== undefined) return known;
  const { name, description, parameters, strict } = tool;
  const wire = wireSchema(parameters);
  const shown = [
    ["name", JSON.stringify(name)],
    ["description", JSON.stringify(description ?? "")],
    ["parameters", wire.kind === "schema" ? wire.json : "null"],
    ...(strict ? [["strict", JSON.stringify(strict)]] : []),
  ];
  const prefix = `{${shown.map(([key, json]) => `"${key}":${json}`).join(",")}}`;
  prefixes.set(tool, prefix);
  return prefix;
}
