import type { AgentTool } from "@tau/agent";
import type { Static } from "typebox";
import { Type } from "../schema.ts";
import { ToolsError } from "../errors.ts";
import { unlessAborted } from "../files/abort.ts";
import { parseJson } from "../files/json-argument.ts";
import { resolveReal } from "../files/path.ts";
import { editFiles, type HashlineChange, type HashlineGround } from "./edit-files.ts";
import { newLines, parseAnchor } from "./format.ts";
import type { LineEdit } from "./plan.ts";

const parameters = Type.Object({
  path: Type.String(),
  edits: Type.Array(
    Type.Object({
      op: Type.Enum(["replace", "prepend", "append"]),
      pos: Type.Optional(Type.String({ description: "LINE#TAG; without it, start or end of file" })),
      end: Type.Optional(Type.String({ description: "Last LINE#TAG to replace" })),
      lines: Type.Union([Type.Array(Type.String()), Type.String(), Type.Null()]),
    }),
    { minItems: 1 },
  ),
});

export interface GivenEdit {
  op: string;
  pos?: string;
  end?: string;
  /** Null or an empty array deletes what is replaced. */
  lines: string[] | string | null;
}

/** Edits lines by the tags they were shown with. */
export function createHashlineEditTool({
  cwd,
  ...ground
}: HashlineGround & { cwd: string }): AgentTool<typeof parameters, HashlineChange> {
  return {
    name: "hashline_edit",
    label: "Hashline edit",
    description:
      "Edit lines of a file by LINE#TAG anchors from read with hashline: true. All edits use the numbers as shown. replace with lines null deletes.",
    parameters,
    prepareArguments,
    async execute(_id, { path: given, edits }, signal) {
      const parsed = edits.map((edit, at) => parseEdit(edit, `edit ${at + 1}`));
      const { path, realPath } = await unlessAborted(resolveReal(ground.files, cwd, given), signal);
      const { text, changes } = await editFiles(ground, [{ given, path, realPath, edits: parsed }], signal);
      return { content: [{ type: "text", text }], details: changes[0]! };
    },
  };
}

/** Models also send lists as JSON in a string. What is still wrong is left for the validation to name. */
function prepareArguments(args: unknown): Static<typeof parameters> {
  const given = args as Partial<Static<typeof parameters>> | undefined;
  const edits = listOf(given?.edits);
  if (!Array.isArray(edits)) return args as Static<typeof parameters>;
  const prepared = edits.map((edit: unknown) => {
    const lines = listOf((edit as Partial<GivenEdit> | null)?.lines);
    return isTexts(lines) ? { ...(edit as GivenEdit), lines } : edit;
  });
  return { ...given, edits: prepared } as Static<typeof parameters>;
}

/** Only what begins as a list: new text that is indented is meant as it stands. */
const listOf = (given: unknown): unknown =>
  typeof given === "string" && given.startsWith("[") ? parseJson(given) : given;

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

/** Pure. */
export function parseEdit({ op, pos, end, lines: given }: GivenEdit, name: string): LineEdit {
  const lines = newLines(given);
  const invalid = (why: string) => new ToolsError("invalid_input", `${name}: ${why}.`);
  if (op === "replace") {
    if (pos === undefined) throw invalid("replace needs pos, the LINE#TAG of the line to replace");
    const first = parseAnchor(pos);
    const last = end === undefined ? first : parseAnchor(end);
    if (last.line < first.line) throw invalid(`end (line ${last.line}) is before pos (line ${first.line})`);
    return { op: "replace", first, last, lines, name };
  }
  if (op !== "prepend" && op !== "append") {
    throw invalid(`there is no operation ${JSON.stringify(op)}; use replace, prepend or append`);
  }
  if (end !== undefined) throw invalid(`${op} takes no end, only pos`);
  if (lines.length === 0) throw invalid(`${op} needs lines`);
  if (pos === undefined) return { op: op === "prepend" ? "start" : "end", lines, name };
  const anchor = parseAnchor(pos);
  return { op: op === "prepend" ? "before" : "after", first: anchor, last: anchor, lines, name };
}
