import { definitions, type ParametersOf } from "../definitions.ts";
import { ToolsError } from "../errors.ts";
import { resolveReal } from "../files/path.ts";
import type { DescribedTool } from "../tool.ts";
import type { BlockEdit } from "./blocks.ts";
import type { RequestedEdit } from "./edit-arguments.ts";
import { editFiles, type HashlineChange, type HashlinePorts } from "./edit-files.ts";
import { newLines, parseAnchor, parseBlockAnchor } from "./format.ts";
import type { LineEdit } from "./plan.ts";

/** Edits lines by the tags that they were shown with. */
export function createHashlineEditTool({
  cwd,
  ...ownPorts
}: HashlinePorts & { cwd: string }): DescribedTool<ParametersOf<"hashline_edit">, HashlineChange> {
  return {
    ...definitions.hashline_edit,
    async execute(_id, { path: typed, edits }, signal, _onUpdate, context) {
      const ports = { ...ownPorts, files: context?.files ?? ownPorts.files };
      const parsed = edits.map((edit, index) => parseEdit(edit, `edit ${index + 1}`));
      const find = async () => [{ typed, edits: parsed, ...(await resolveReal(ports.files, cwd, typed)) }];
      const { text, changes } = await editFiles(ports, find, signal);
      return { content: [{ type: "text", text }], details: changes[0]! };
    },
  };
}

/** Pure. */
export function parseEdit({ op, pos, end, lines: content }: RequestedEdit, name: string): LineEdit | BlockEdit {
  const lines = newLines(content);
  const invalid = (why: string) => new ToolsError("invalid_input", `${name}: ${why}.`);
  const block = pos === undefined ? undefined : parseBlockAnchor(pos);
  if (block && end !== undefined) throw invalid("a pos with * is a whole block and takes no end");
  if (op === "replace") {
    if (block) return { op, block, lines, name };
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
  const side = op === "prepend" ? "before" : "after";
  if (block) return { op: side, block, lines, name };
  const anchor = parseAnchor(pos);
  return { op: side, first: anchor, last: anchor, lines, name };
}
