/** Keeps the beginning of requests the same, so that a provider finds it in its cache. Pure. */
import type { AgentTool } from "@tau/agent";
import { oncePer } from "@tau/ai/internal";
import { wireSchema } from "./wire-schema.ts";

/** The tools of `after`: those that were there before, by name, in the order they had, then the others in their own. */
export function keepOrder(before: readonly AgentTool[], after: readonly AgentTool[]): AgentTool[] {
  const indices = new Map(before.map(({ name }, index) => [name, index]));
  const getIndex = ({ name }: AgentTool) => indices.get(name) ?? before.length;
  return after.toSorted((a, b) => getIndex(a) - getIndex(b));
}

/** The tools as a model is shown them, in order. Equal texts mean that this part of a request has not changed. */
export const toolsPrefix = (tools: readonly AgentTool[]): string => `[${tools.map(toolPrefix).join(",")}]`;

/** Formats a tool as a model is shown it, as JSON. Cached by identity: a changed tool must be a new object. */
export const toolPrefix = oncePer(({ name, description, parameters, strict }: AgentTool): string => {
  const wire = wireSchema(parameters);
  const shown = [
    ["name", JSON.stringify(name)],
    ["description", JSON.stringify(description ?? "")],
    ["parameters", wire.kind === "schema" ? wire.json : "null"],
    ...(strict ? [["strict", JSON.stringify(strict)]] : []),
  ];
  return `{${shown.map(([key, json]) => `"${key}":${json}`).join(",")}}`;
});
