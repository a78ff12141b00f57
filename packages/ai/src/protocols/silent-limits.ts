/** Detects from token counts that a prompt was too long or truncated, although the provider reported no error. Pure. */
import { oncePer } from "../internal/once.ts";
import { asRecord } from "../json.ts";
import type { AssistantMessage } from "../message.ts";
import type { Model } from "../model.ts";
import type { EncodeNote } from "./protocol.ts";

/** No tokenizer averages more characters per token for text without padding. */
const maxCharactersPerToken = 6;

/** For shorter prompts the estimate is too inaccurate. */
const minCharacters = 12_000;

/** `length` is that of the payload as JSON: its text cannot have more characters. */
export function checkUsage(
  message: AssistantMessage,
  model: Model,
  { payload, length }: { payload: unknown; length: number },
): EncodeNote[] {
  const reported = message.usage.input + message.usage.cacheRead + message.usage.cacheWrite;
  const notes: EncodeNote[] = [];
  if (model.contextWindow > 0 && reported > model.contextWindow) {
    notes.push({
      type: "silent_overflow",
      message: `The provider counted ${reported} prompt tokens, more than the model's window of ${model.contextWindow}.`,
      details: { reported, contextWindow: model.contextWindow },
    });
  }
  // Counting takes as long as building the request, and is rarely needed.
  if (reported === 0 || length < minCharacters || reported >= Math.floor(length / maxCharactersPerToken)) return notes;
  const characters = countCharacters(payload);
  const expected = Math.floor(characters / maxCharactersPerToken);
  if (characters >= minCharacters && reported < expected) {
    notes.push({
      type: "silent_truncation",
      message: `The provider counted ${reported} prompt tokens where at least ${expected} were sent: it has dropped part of the prompt. Raise the server's context size.`,
      details: { reported, expectedAtLeast: expected, characters },
    });
  }
  return notes;
}

/** The number of characters in all strings, without padding, images and signatures. */
function countCharacters(payload: unknown): number {
  let sum = 0;
  for (const field of Object.values(asRecord(payload))) {
    for (const part of Array.isArray(field) ? (field as unknown[]) : [field]) {
      sum += typeof part === "object" && part !== null ? countPart(part) : count(part);
    }
  }
  return sum;
}

/** Once for each message: most of them were in the request before. */
const countPart = oncePer((part: object) => count(part));

function count(value: unknown, depth = 0): number {
  if (typeof value === "string") return isOpaque(value) ? 0 : value.replace(/\s+/g, " ").length;
  if (typeof value !== "object" || value === null || depth > 32) return 0;
  let sum = 0;
  for (const inner of Object.values(value)) sum += count(inner, depth + 1);
  return sum;
}

/** Whether a string looks like base64 or similar: long printable ASCII without a space. */
const isOpaque = (text: string) => text.length > 200 && /^[!-~]+$/.test(text);
