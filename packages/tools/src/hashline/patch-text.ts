/** Parses the text that `hashline_patch` takes. Pure. */
import { ToolsError } from "../errors.ts";
import { type Anchor, newLines } from "./format.ts";
import { isHeaderLine, parseHeader, type PatchHeader, sectionSign } from "./patch-header.ts";
import type { LineEdit } from "./plan.ts";
import { lineTagPattern } from "./tags.ts";

export interface PatchSection extends PatchHeader {
  edits: LineEdit[];
}

const position = `(\\d{1,9}|BOF|EOF)(?:#(${lineTagPattern}))?`;
const operation = new RegExp(`^${position}(?:(?:-|\\.\\.)${position})?([↑↓:!])(.*)$`, "s");

/**
 * Sections that begin with `¶path#tag`. In them `5↑` inserts before a line, `5↓` after it, `5-9:` replaces and `5-9!`
 * deletes lines; `BOF↑` and `EOF↓` are the start and the end of the file. The new lines follow, each after a `+`; the
 * first may stand right after the sign. A range may be written `5..9`, and lines with their tags: `5#ZP-9#KT:`.
 */
export function parsePatch(text: string): PatchSection[] {
  const sections: PatchSection[] = [];
  let draft: Draft | undefined;
  /** Empty rows so far: part of the new text if more of it follows. */
  let empty = 0;
  const finish = () => {
    if (draft) sections.at(-1)!.edits.push(finished(draft));
    draft = undefined;
  };
  for (const [index, raw] of text.split("\n").entries()) {
    const row = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    const number = index + 1;
    if (row.startsWith("+") && draft) {
      if (draft.lines.length > 0) draft.lines.push(...Array<string>(empty).fill(""));
      draft.lines.push(row.slice(1));
    } else if (isHeaderLine(row)) {
      finish();
      const header = parseHeader(row);
      if (!header) throw invalid(number, row, `a section begins with ${sectionSign}path#tag, the tag as read shows it`);
      sections.push({ ...header, edits: [] });
    } else if (row.trim() !== "") {
      finish();
      if (sections.length === 0) throw invalid(number, row, `the patch must begin with ${sectionSign}path#tag`);
      draft = parseOperation(row, number);
    }
    empty = row.trim() === "" ? empty + 1 : 0;
  }
  finish();
  if (sections.length === 0)
    throw new ToolsError("invalid_input", `The patch is empty. Begin with ${sectionSign}path#tag.`);
  const idle = sections.find(({ edits }) => edits.length === 0);
  if (idle) throw new ToolsError("invalid_input", `The section of ${idle.path.slice(0, 80)} has no operation.`);
  return sections;
}

interface Draft {
  row: string;
  number: number;
  sign: string;
  first: PatchPosition;
  last: PatchPosition;
  lines: string[];
}

type PatchPosition = Anchor | "BOF" | "EOF";

function parseOperation(row: string, number: number): Draft {
  const [, from, fromTag, to, toTag, sign, inline] = operation.exec(row) ?? [];
  if (from === undefined || sign === undefined) {
    throw invalid(number, row, "unknown operation: write 5↑, 5↓, 5-9: or 5-9!, and put + before each line of new text");
  }
  const first = toPosition(from, fromTag);
  const last = to === undefined ? first : toPosition(to, toTag);
  return { row, number, sign, first, last, lines: inline ? [inline] : [] };
}

const toPosition = (text: string, tag: string | undefined): PatchPosition =>
  text === "BOF" || text === "EOF" ? text : { line: Number(text), tag };

function finished({ row, number, sign, first, last, lines: content }: Draft): LineEdit {
  const lines = newLines(content);
  const name = `${row.slice(0, row.indexOf(sign) + 1)} (line ${number} of the patch)`;
  if (sign === "!" && lines.length > 0) throw invalid(number, row, "! deletes and takes no text; : replaces");
  if (sign !== "!" && lines.length === 0) {
    throw invalid(number, row, "the new text is missing: put + before each line of it, a + alone for an empty line");
  }
  const isInsertion = sign === "↑" || sign === "↓";
  if (typeof first === "string" || typeof last === "string") {
    if (!isInsertion || first !== last) throw invalid(number, row, "BOF and EOF only take ↑ or ↓");
    return { op: first === "BOF" ? "start" : "end", lines, name };
  }
  if (first.line < 1) throw invalid(number, row, "lines are counted from 1");
  if (last.line < first.line) throw invalid(number, row, "the range ends before it begins");
  if (!isInsertion) return { op: "replace", first, last, lines, name };
  // An insertion at a range goes before its first or after its last line.
  const anchor = sign === "↑" ? first : last;
  return { op: sign === "↑" ? "before" : "after", first: anchor, last: anchor, lines, name };
}

const invalid = (number: number, row: string, why: string) =>
  new ToolsError("invalid_input", `Line ${number} of the patch, ${JSON.stringify(row.slice(0, 80))}: ${why}.`);
