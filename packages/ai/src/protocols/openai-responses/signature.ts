/**
 * How the ids and items that the Responses API expects back are stored in a history. The formats are those of pi, so
 * that sessions can be exchanged: the id of a call is `call_id|item_id`, the signature of a text holds the id and phase
 * of its item, and the signature of a thinking block is the whole reasoning item.
 */
import { asString, isRecord, tryParseJson } from "../../json.ts";
import { isTooDeep } from "../streaming-json.ts";

type TextPhase = "commentary" | "final_answer";

/** The id of an item if the provider accepts it: it must have the prefix of its kind and at most 64 characters. */
export function readItemId(kind: "fc" | "msg", id: string | undefined): string | undefined {
  return id !== undefined && id.length <= 64 && id.startsWith(`${kind}_`) && /^[\w-]+$/.test(id) ? id : undefined;
}

export function writeCallId(item: Record<string, unknown>, fallback: string): string {
  const id = asString(item["id"]);
  const callId = asString(item["call_id"]) || id || fallback;
  return id ? `${callId}|${id}` : callId;
}

export function writeTextSignature(item: Record<string, unknown>): string | undefined {
  const id = asString(item["id"]);
  const phase = readPhase(item["phase"]);
  return id ? JSON.stringify({ v: 1, id, ...(phase && { phase }) }) : undefined;
}

/** In older histories the signature is the bare id. */
export function readTextSignature(signature: string | undefined): { id?: string; phase?: TextPhase } {
  if (!signature) return {};
  const stored = parseRecord(signature);
  const id = readItemId("msg", stored ? asString(stored["id"]) : signature);
  const phase = stored && readPhase(stored["phase"]);
  return { ...(id && { id }), ...(phase && { phase }) };
}

const readPhase = (phase: unknown): TextPhase | undefined =>
  phase === "commentary" || phase === "final_answer" ? phase : undefined;

/** Undefined if the item is nested too deeply. */
export const writeReasoning = (item: Record<string, unknown>): string | undefined =>
  isTooDeep(item) ? undefined : JSON.stringify(item);

/** The stored reasoning item; undefined if it has no content, encrypted or plain, and so cannot be sent back. */
export function readReasoning(signature: string | undefined): Record<string, unknown> | undefined {
  const item = signature === undefined ? undefined : parseRecord(signature);
  if (item?.["type"] !== "reasoning" || isTooDeep(item)) return undefined;
  const { content } = item;
  const hasContent = asString(item["encrypted_content"]) !== "" || (Array.isArray(content) && content.length > 0);
  return hasContent ? item : undefined;
}

function parseRecord(json: string): Record<string, unknown> | undefined {
  const value = json.startsWith("{") ? tryParseJson(json) : undefined;
  return isRecord(value) ? value : undefined;
}
