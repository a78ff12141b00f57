/** Messages of extensions that are folded. Pure. */
import { toFields } from "./fields.ts";

/**
 * The lines that stand for a message of an extension until it is unfolded: `foldedTo` of its details. Undefined for one that is
 * shown whole.
 */
export function getFoldedLines(details: unknown): readonly string[] | undefined {
  const { foldedTo } = toFields(details);
  if (!Array.isArray(foldedTo) || foldedTo.length === 0) return undefined;
  return foldedTo.every((line) => typeof line === "string") ? foldedTo : undefined;
}
