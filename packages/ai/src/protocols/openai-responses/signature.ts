/**
 * How the facts that Responses wants back are kept in a history. The formats are pi's, since sessions travel between
 * the two: a call's id is `call_id|item_id`, a text's signature names its item and phase, and a thinking block's
 * signature is the whole reasoning item.
 */
import { record, text } from "../read.ts";
import { isTooDeep } from "../streaming-json.ts";

export type TextPhase = "commentary" | "final_answer";

/** An item's id, if it is one that the provider takes back: with the prefix of its kind, and not too long. */
export function readItemId(kind: "fc" | "msg", id: string | undefined): string | undefined {
  return id !== undefined && id.length <= 64 && id.startsWith(`${kind}_`) && /^[\w-]+$/.test(id) ? id : undefined;
}

export function writeCallId(item: Record<string, unknown>, fallback: string): string {
  const id = text(item["id"]);
  const callId = text(item["call_id"]) || id || fallback;
  return id ? `${callId}|${id}` : callId;
}

export function writeTextSignature(item: Record<string, unknown>): string | undefined {
  const id = text(item["id"]);
  const phase = readPhase(item["phase"]);
  return id ? JSON.stringify({ v: 1, id, ...(phase && { phase }) }) : undefined;
}

/** Older histories hold the bare id. */
export function readTextSignature(signature: string | undefined): { id?: string; phase?: TextPhase } {
  if (!signature) return {};
  const written = parseRecord(signature);
  const id = readItemId("msg", written ? text(written["id"]) : signature);
  const phase = written && readPhase(written["phase"]);
  return { ...(id && { id }), ...(phase && { phase }) };
}

const readPhase = (phase: unknown): TextPhase | undefined =>
  phase === "commentary" || phase === "final_answer" ? phase : undefined;

/** Undefined for an item that nothing sensible would send. */
export const writeReasoning = (item: Record<string, unknown>): string | undefined =>
  isTooDeep(item) ? undefined : JSON.stringify(item);

/** The reasoning item, if it can be sent back: without its content, encrypted or open, it means nothing. */
export function readReasoning(signature: string | undefined): Record<string, unknown> | undefined {
  const item = signature === undefined ? undefined : parseRecord(signature);
  if (item?.["type"] !== "reasoning" || isTooDeep(item)) return undefined;
  const { content } = item;
  const hasContent = text(item["encrypted_content"]) !== "" || (Array.isArray(content) && content.length > 0);
  return hasContent ? item : undefined;
}

function parseRecord(json: string): Record<string, unknown> | undefined {
  if (!json.startsWith("{")) return undefined;
  try {
    return record(JSON.parse(json));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
