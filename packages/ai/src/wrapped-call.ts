/** Calls of tools that a request does not list, made by calling a listed tool with their name and arguments. Pure. */
import { isRecord, tryParseJson } from "./json.ts";
import type { ToolCall } from "./message.ts";

/**
 * Turns a call whose arguments are `{ name, arguments }` into a call of the tool that they name. Arguments may also be JSON
 * text, or stand beside the name. Returns the call itself if it names no tool, or was unwrapped before.
 */
export function unwrapToolCall(call: ToolCall): ToolCall {
  if (call.via !== undefined || call.argumentsError !== undefined) return call;
  const { name, arguments: own, ...beside } = call.arguments;
  const args: unknown = own === undefined ? beside : typeof own === "string" ? tryParseJson(own || "{}") : own;
  if (typeof name !== "string" || name === "" || !isRecord(args)) return call;
  return { ...call, name, arguments: args, via: call.name };
}

/** Turns a call into the one that the model made. */
export function wrapToolCall(call: ToolCall): ToolCall {
  const { via, ...own } = call;
  if (via === undefined) return call;
  return { ...own, name: via, arguments: { name: call.name, arguments: call.arguments } };
}
