/** Normalises the arguments of hashline edits. Pure. */
import { tryParseJson } from "@tau/ai/internal";
import { prepareFileArguments } from "../arguments.ts";

export interface RequestedEdit {
  op: string;
  pos?: string;
  end?: string;
  /** Null or an empty array deletes what is replaced. */
  lines: string[] | string | null;
}

/** The arguments once they are valid. */
interface LineEdits {
  path: string;
  edits: (RequestedEdit & { op: "replace" | "prepend" | "append" })[];
}

/** Models also send lists as JSON in a string. Anything else that is wrong is left to the validation. */
export function prepareLineEdits(args: unknown): LineEdits {
  const request = prepareFileArguments<Partial<LineEdits> | undefined>(args);
  const edits = toList(request?.edits);
  if (!Array.isArray(edits)) return request as LineEdits;
  const prepared = edits.map((edit: unknown) => {
    const lines = toList((edit as Partial<RequestedEdit> | null)?.lines);
    return isTexts(lines) ? { ...(edit as RequestedEdit), lines } : edit;
  });
  return { ...request, edits: prepared } as LineEdits;
}

/** Only a string that begins as a list: any other string is new text. */
const toList = (value: unknown): unknown =>
  typeof value === "string" && value.startsWith("[") ? tryParseJson(value) : value;

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");
