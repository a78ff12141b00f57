/**
 * Where thinking travels. Most servers put its text into one field of a message and take it back in the same. Some add
 * `reasoning_details`, with what a provider needs to take it back: they arrive in pieces and are kept as JSON, in the
 * signature of the block they belong to.
 */
import { list, record, text } from "../read.ts";
import { isTooDeep } from "../streaming-json.ts";

/** Where servers put the text. One that fills two of them says the same twice, so the first counts. */
export const reasoningFields: readonly string[] = ["reasoning_content", "reasoning", "reasoning_text"];

export type ReasoningDetail = Record<string, unknown> & { type: string };

/** The entries of a delta that are details at all, and flat enough to be kept. */
export const readDetails = (value: unknown): ReasoningDetail[] =>
  list(value)
    .map(record)
    .filter((detail): detail is ReasoningDetail => typeof detail["type"] === "string" && !isTooDeep(detail));

export const isEncrypted = (detail: ReasoningDetail): boolean => detail.type === "reasoning.encrypted";

/** The readable part of each kind that comes in pieces. */
const growing = new Map([
  ["reasoning.text", "text"],
  ["reasoning.summary", "summary"],
]);

/** What a person can read of a piece. */
export const getReadable = (piece: ReasoningDetail): string => text(piece[growing.get(piece.type) ?? ""]);

/** Adds a piece to the entry it continues, or as a new one. Changes `details` in place. */
export function addDetail(details: ReasoningDetail[], piece: ReasoningDetail): void {
  const field = growing.get(piece.type);
  const last = details.at(-1);
  if (field === undefined || last?.type !== piece.type || last["index"] !== piece["index"]) {
    details.push({ ...piece });
    return;
  }
  const said = Object.entries(piece).filter(([, value]) => value !== null && value !== "");
  details[details.length - 1] = {
    ...last,
    ...Object.fromEntries(said),
    [field]: text(last[field]) + text(piece[field]),
  };
}

/** Whether the details hold more than the text that is kept anyway. */
export const saysMore = (details: readonly ReasoningDetail[]): boolean =>
  details.some((detail) => isEncrypted(detail) || text(detail["signature"]) !== "");

/** Reads a stored signature back: a list of details, or a single one. Anything else gives none. */
export function parseDetails(signature: string | undefined): ReasoningDetail[] {
  if (!signature || !/^[[{]/.test(signature)) return [];
  try {
    const stored: unknown = JSON.parse(signature);
    return readDetails(Array.isArray(stored) ? stored : [stored]);
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
