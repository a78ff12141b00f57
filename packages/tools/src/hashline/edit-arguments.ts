/** What models send in place of a list of edits of lines. Pure. */
import { parseJson } from "../files/json-argument.ts";

export interface GivenEdit {
  op: string;
  pos?: string;
  end?: string;
  /** Null or an empty array deletes what is replaced. */
  lines: string[] | string | null;
}

/** As it is when the validation has found nothing wrong. */
interface LineEdits {
  path: string;
  edits: (GivenEdit & { op: "replace" | "prepend" | "append" })[];
}

/** Models also send lists as JSON in a string. What is still wrong is left for the validation to name. */
export function prepareLineEdits(args: unknown): LineEdits {
  const given = args as Partial<LineEdits> | undefined;
  const edits = toList(given?.edits);
  if (!Array.isArray(edits)) return args as LineEdits;
  const prepared = edits.map((edit: unknown) => {
    const lines = toList((edit as Partial<GivenEdit> | null)?.lines);
    return isTexts(lines) ? { ...(edit as GivenEdit), lines } : edit;
  });
  return { ...given, edits: prepared } as LineEdits;
}

/** Only what begins as a list: new text that is indented is meant as it stands. */
const toList = (given: unknown): unknown =>
  typeof given === "string" && given.startsWith("[") ? parseJson(given) : given;

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");
