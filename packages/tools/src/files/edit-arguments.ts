/** Normalises the arguments of edits. Pure. */
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { prepareFileArguments } from "../arguments.ts";

interface Edits {
  path: string;
  edits: { oldText: string; newText: string }[];
}

/** Models also send one edit without a list around it, and the list as JSON in a string. */
export function prepareEdits(given: unknown): Edits {
  const args: unknown = prepareFileArguments(given);
  if (!isRecord(args)) return args as Edits;
  const { oldText, newText, ...rest } = args;
  const edits = toList(rest["edits"]);
  const single = oldText === undefined && newText === undefined ? [] : [{ oldText, newText }];
  // Anything else that is wrong is left to the validation.
  const prepared = Array.isArray(edits) ? [...(edits as unknown[]), ...single] : edits;
  return { ...rest, edits: prepared } as Edits;
}

function toList(edits: unknown): unknown {
  if (edits === undefined || edits === null) return [];
  if (isRecord(edits)) return [edits];
  if (typeof edits !== "string") return edits;
  const parsed = tryParseJson(edits);
  return isRecord(parsed) ? [parsed] : (parsed ?? edits);
}
