/**
 * The fields that carry thinking. Most servers send its text in one field of a message and accept it back in the same
 * field. Some also send `reasoning_details`, which the provider needs to accept the thinking again; the details arrive
 * in pieces and are stored as JSON in the signature of their block.
 */
import { asArray, asRecord, asString, isRecord, tryParseJson } from "../../json.ts";
import { isTooDeep } from "../streaming-json.ts";

/** The fields in which servers send thinking text. If a server fills several, they are equal and the first is used. */
export const reasoningFields: readonly string[] = ["reasoning_content", "reasoning", "reasoning_text"];

export type ReasoningDetail = Record<string, unknown> & { type: string };

/** The valid entries of `reasoning_details`. Entries that are nested too deeply are dropped. */
export const readDetails = (value: unknown): ReasoningDetail[] =>
  asArray(value)
    .map(asRecord)
    .filter((detail): detail is ReasoningDetail => typeof detail["type"] === "string" && !isTooDeep(detail));

export const isEncrypted = (detail: ReasoningDetail): boolean => detail.type === "reasoning.encrypted";

/** The text field of each kind of detail that arrives in pieces. */
const textFields = new Map([
  ["reasoning.text", "text"],
  ["reasoning.summary", "summary"],
]);

export const getReadable = (piece: ReasoningDetail): string => asString(piece[textFields.get(piece.type) ?? ""]);

/** Appends a piece to the entry it continues, or adds it as a new entry. Changes `details` in place. */
export function addDetail(details: ReasoningDetail[], piece: ReasoningDetail): void {
  const field = textFields.get(piece.type);
  const last = details.at(-1);
  if (field === undefined || last?.type !== piece.type || last["index"] !== piece["index"]) {
    details.push({ ...piece });
    return;
  }
  const filledFields = Object.entries(piece).filter(([, value]) => value !== null && value !== "");
  details[details.length - 1] = {
    ...last,
    ...Object.fromEntries(filledFields),
    [field]: asString(last[field]) + asString(piece[field]),
  };
}

/** Whether the details hold anything besides their text, which the block already stores. */
export const needsStoring = (details: readonly ReasoningDetail[]): boolean =>
  details.some((detail) => isEncrypted(detail) || asString(detail["signature"]) !== "");

/**
 * The signature of a call whose server sent it in the field `extra_content`, as Google's does. The field must be sent
 * back as it was. Empty if there is nothing to store.
 */
export const writeExtraContent = (value: unknown): string =>
  isRecord(value) && !isTooDeep(value) ? JSON.stringify({ extra_content: value }) : "";

/** The field `extra_content` of a call, if its signature has it. */
export function readExtraContent(signature: string | undefined): { extra_content?: Record<string, unknown> } {
  const stored = signature?.startsWith("{") ? asRecord(tryParseJson(signature))["extra_content"] : undefined;
  return isRecord(stored) && !isTooDeep(stored) ? { extra_content: stored } : {};
}

/**
 * The signature of thinking whose server sent it in the field `reasoning_opaque`, as GitHub Copilot's does. It must be
 * sent back with the text.
 */
export const writeOpaque = (value: string): string => JSON.stringify({ reasoning_opaque: value });

/** The field `reasoning_opaque` of a stored signature; empty if it has none. */
export const readOpaque = (signature: string | undefined): string =>
  signature?.startsWith("{") ? asString(asRecord(tryParseJson(signature))["reasoning_opaque"]) : "";

/** Parses a stored signature: a list of details or a single detail. Any other signature gives an empty list. */
export function parseDetails(signature: string | undefined): ReasoningDetail[] {
  if (!signature || !/^[[{]/.test(signature)) return [];
  const stored = tryParseJson(signature);
  return readDetails(Array.isArray(stored) ? stored : [stored]);
}
