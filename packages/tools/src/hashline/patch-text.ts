/** Parses the text that `hashline_patch` takes. Pure. */
import { ToolsError } from "../errors.ts";
import type { BlockEdit } from "./blocks.ts";
import { type Anchor, newLines } from "./format.ts";
import { isHeaderLine, parseHeader, type PatchHeader, sectionSign } from "./patch-header.ts";
import type { LineEdit } from "./plan.ts";
import { lineTagPattern } from "./tags.ts";

export interface PatchSection extends PatchHeader {
  edits: (LineEdit | BlockEdit)[];
}

const position = `(\\d{1,9}|BOF|EOF)(\\*?(?:#${lineTagPattern})?\\*?)`;
const operation = new RegExp(`^${position}(?:(?:-|\\.\\.)${position})?([↑↓:!])(.*)$`, "s");

/**
 * Sections that begin with `¶path#tag`. In them `5↑` inserts before a line, `5↓` after it, `5-9:` replaces and `5-9!`
 * deletes lines; `BOF↑` and `EOF↓` are the start and the end of the file. The new lines follow, each after a `+`; the
 * first may stand right after the sign. A range may be written `5..9`, and lines with their tags: `5#ZP-9#KT:`. `5*` is the
 * block that opens at a line, with all its lines.
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
  isBlock: boolean;
  lines: string[];
}

type PatchPosition = Anchor | "BOF" | "EOF";

function parseOperation(row: string, number: number): Draft {
  const [, from, fromMarks, to, toMarks, sign, inline] = operation.exec(row) ?? [];
  if (from === undefined || sign === undefined) {
    throw invalid(
      number,
      row,
      "unknown operation: write 5↑, 5↓, 5-9:, 5-9! or 5*:, and put + before each line of new text",
    );
  }
  const isBlock = fromMarks?.includes("*") ?? false;
  if (toMarks?.includes("*") || (isBlock && to !== undefined)) {
    throw invalid(number, row, "5* is a whole block and no part of a range");
  }
  const first = toPosition(from, fromMarks);
  const last = to === undefined ? first : toPosition(to, toMarks);
  return { row, number, sign, first, last, isBlock, lines: inline ? [inline] : [] };
}

/** `marks`: the tag after `#`, and the sign of a block. */
const toPosition = (text: string, marks: string | undefined): PatchPosition =>
  text === "BOF" || text === "EOF" ? text : { line: Number(text), tag: marks?.replaceAll(/[*#]/g, "") || undefined };

function finished({ row, number, sign, first, last, isBlock, lines: content }: Draft): LineEdit | BlockEdit {
  const lines = newLines(content);
  const name = `${row.slice(0, row.indexOf(sign) + 1)} (line ${number} of the patch)`;
  if (sign === "!" && lines.length > 0) throw invalid(number, row, "! deletes and takes no text; : replaces");
  if (sign !== "!" && lines.length === 0) {
    throw invalid(number, row, "the new text is missing: put + before each line of it, a + alone for an empty line");
  }
  const isInsertion = sign === "↑" || sign === "↓";
  if (typeof first === "string" || typeof last === "string") {
    if (!isInsertion || first !== last || isBlock) throw invalid(number, row, "BOF and EOF only take ↑ or ↓");
    return { op: first === "BOF" ? "start" : "end", lines, name };
  }
  if (first.line < 1) throw invalid(number, row, "lines are counted from 1");
  if (last.line < first.line) throw invalid(number, row, "the range ends before it begins");
  const side = sign === "↑" ? "before" : "after";
  if (isBlock) return { op: isInsertion ? side : "replace", block: first, lines, name };
  if (!isInsertion) return { op: "replace", first, last, lines, name };
  // An insertion at a range goes before its first or after its last line.
  const anchor = side === "before" ? first : last;
  return { op: side, first: anchor, last: anchor, lines, name };
}

const invalid = (number: number, row: string, why: string) =>
  new ToolsError("invalid_input", `Line ${number} of the patch, ${JSON.stringify(row.slice(0, 80))}: ${why}.`);
