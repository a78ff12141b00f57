/** Turns the result of a tool in the `inputSchema` form into one that a model reads. Pure. */
import type { AgentToolResult } from "@tau/agent";
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";

/** Some providers refuse an empty result, and a model takes one for a failure. */
const doneText = "Done.";

/**
 * A text and a result with `content` stay as they are, undefined becomes a confirmation, all else becomes JSON. Throws for a
 * value that JSON cannot represent; the message says that the tool has done its work.
 */
export function toolResult(value: unknown): AgentToolResult {
  if (isResult(value)) return value;
  const text = value === undefined || value === "" ? doneText : typeof value === "string" ? value : json(value);
  const result = textResult(text);
  rawResults.set(result, value);
  return result;
}

const rawResults = new WeakMap<AgentToolResult, unknown>();

/** Returns what a tool returned, from the result that was made of it. */
export const getRawResult = (result: AgentToolResult): unknown =>
  rawResults.has(result) ? rawResults.get(result) : result;

export const textResult = (text: string): AgentToolResult => ({ content: [{ type: "text", text }] });

/** Whether a value is a result as a model reads it. Data may have a field `content` too: it is a result only if all of that can be shown to a model. */
export const isResult = (value: unknown): value is AgentToolResult =>
  isRecord(value) && Array.isArray(value["content"]) && value["content"].every(isBlock);

const isBlock = (block: unknown): boolean =>
  isRecord(block) &&
  (block["type"] === "text"
    ? typeof block["text"] === "string"
    : block["type"] === "image" && typeof block["data"] === "string" && typeof block["mimeType"] === "string");

function json(value: unknown): string {
  try {
    return JSON.stringify(value, withoutCycles()) ?? doneText;
  } catch (error) {
    const text = `The tool has run, but its result cannot be written as JSON: ${getErrorMessage(error)}`;
    throw new HarnessError("invalid_input", text, { cause: error });
  }
}

/** Replaces only a value that contains itself; a value that occurs twice is written twice. */
function withoutCycles(): (this: unknown, key: string, value: unknown) => unknown {
  const ancestors: { value: object; plain: object }[] = [];
  return function (_key, value) {
    if (typeof value === "bigint") return value.toString();
    if (typeof value !== "object" || value === null) return value;
    // `this` contains the value: all ancestors after it are finished.
    while (ancestors.length > 0 && ancestors.at(-1)!.plain !== this) ancestors.pop();
    if (ancestors.some((ancestor) => ancestor.value === value)) return "[circular]";
    const plain = toPlain(value);
    ancestors.push({ value, plain });
    return plain;
  };
}

/** JSON makes `{}` of these, which would lose their content. */
function toPlain(value: object): object {
  if (value instanceof Error) return { ...value, name: value.name, message: value.message };
  if (value instanceof Map || value instanceof Set) return [...value];
  return value;
}
