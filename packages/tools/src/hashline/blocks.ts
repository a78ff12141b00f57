/** Turns edits that name a block by its first line into edits of lines, by the syntax tree of the text that was shown. */
import { ToolsError } from "../errors.ts";
import { maxSyntaxBytes, type Syntax, type SyntaxBlock, type SyntaxOutline } from "../platform/syntax.ts";
import { formatBytes } from "../truncate.ts";
import type { Anchor } from "./format.ts";
import { fitsAnchor, type LineEdit, type Refusal } from "./plan.ts";
import { isVersionOf, type Version } from "./snapshots.ts";
import type { TextFile } from "./text.ts";

/** A change of the block that opens at a line. */
export interface BlockEdit {
  op: "replace" | "before" | "after";
  block: Anchor;
  lines: string[];
  name: string;
}

interface BlocksInput {
  edits: readonly (LineEdit | BlockEdit)[];
  current: TextFile;
  /** The newest first. */
  versions: readonly Version[];
  fileTag?: string | undefined;
  /** The path as the model typed it. */
  typed: string;
  syntax: Syntax | undefined;
}

type ResolvedBlocks = { kind: "resolved"; edits: LineEdit[]; notes: string[] } | Refusal;

/** Parses each text at most once. Throws a `ToolsError` if it cannot be parsed here. Without such edits it parses nothing. */
export async function resolveBlocks(input: BlocksInput): Promise<ResolvedBlocks> {
  const outlines = new Map<Version, SyntaxOutline>();
  const edits: LineEdit[] = [];
  const notes: string[] = [];
  const refused: Refusal[] = [];
  for (const edit of input.edits) {
    if (!("block" in edit)) {
      edits.push(edit);
      continue;
    }
    const meant = findVersions(edit.block, input);
    for (const version of meant) {
      const text = getText(version, input.current);
      if (text && !outlines.has(version)) outlines.set(version, await parse(text, input));
    }
    const resolved = resolveBlock(
      edit,
      meant.map((version) => outlines.get(version)),
    );
    if ("kind" in resolved) refused.push(resolved);
    else {
      edits.push(resolved.edit);
      notes.push(...resolved.notes);
    }
  }
  if (refused.length === 0) return { kind: "resolved", edits, notes };
  return {
    kind: "refused",
    code: refused.every(({ code }) => code === "invalid_input") ? "invalid_input" : "stale",
    reasons: refused.flatMap(({ reasons }) => reasons),
    spots: refused.flatMap(({ spots }) => spots),
  };
}

/** The versions in which the line was shown as the anchor names it. */
const findVersions = (anchor: Anchor, { versions, fileTag }: BlocksInput): Version[] =>
  versions.filter((version) => (fileTag === undefined || version.tag === fileTag) && fitsAnchor(version, anchor));

/** Undefined if the text was not kept and is not the current one. */
const getText = (version: Version, current: TextFile): Buffer | undefined =>
  version.text ?? (isVersionOf(version, current) ? current.text : undefined);

async function parse(text: Buffer, { typed, syntax }: BlocksInput): Promise<SyntaxOutline> {
  const advice = "Nothing was changed. Name the first and the last line instead.";
  if (!syntax) {
    throw new ToolsError(
      "unavailable",
      `${typed}: a * after a line number needs a parser, and this session has none (the feature ast). ${advice}`,
    );
  }
  if (text.length > maxSyntaxBytes) {
    const limit = formatBytes(maxSyntaxBytes);
    throw new ToolsError("too_large", `${typed} is larger than ${limit}, so that it is not parsed. ${advice}`);
  }
  const outline = await syntax.getOutline(typed, text.toString("utf8"));
  if (outline.kind === "unavailable") throw new ToolsError("unavailable", `${outline.message} ${advice}`);
  return outline;
}

/** Pure. `outlines`: those of the texts that may be meant; undefined for a text that was not kept. */
function resolveBlock(
  edit: BlockEdit,
  outlines: readonly (SyntaxOutline | undefined)[],
): { edit: LineEdit; notes: string[] } | Refusal {
  const { op, block, lines, name } = edit;
  const first = block;
  // A line that was never shown so is refused when the edit is placed, as that of any other edit.
  if (outlines.length === 0) return { edit: { op, first, last: first, lines, name }, notes: [] };
  const found = outlines.map((outline) => outline?.blocks.find(({ line }) => line === block.line));
  const [outline] = outlines;
  const spot = { start: block.line - 1, end: block.line };
  if (!outline || found.some((other) => other?.endLine !== found[0]?.endLine)) {
    const why = outline
      ? "the block ends elsewhere in two texts with this tag."
      : "the file changed since it was shown.";
    return { kind: "refused", code: "stale", reasons: [`${name}: ${why}`], spots: [spot] };
  }
  const [opened] = found;
  if (!opened) {
    const nearest = findNearest(outline.blocks, block.line);
    const advice = nearest
      ? `the nearest line that does is ${nearest.line} (its block ends at line ${nearest.endLine}).`
      : "no line of this file does.";
    const spots = nearest ? [{ start: nearest.line - 1, end: nearest.line }] : [spot];
    const reasons = [`${name}: line ${block.line} opens no block; ${advice}`];
    return { kind: "refused", code: "invalid_input", reasons, spots };
  }
  const doubt =
    outline.errorLine === undefined ? "" : ` The file has a syntax error at line ${outline.errorLine}: check that.`;
  const notes = [`${name}: the block is lines ${opened.line}-${opened.endLine}.${doubt}`];
  const last = { line: opened.endLine, tag: undefined };
  if (op === "before") return { edit: { op, first, last: first, lines, name }, notes };
  return { edit: { op, first, last, lines, name }, notes };
}

/** Prefers the one above if two are equally near. */
function findNearest(blocks: readonly SyntaxBlock[], line: number): SyntaxBlock | undefined {
  const distance = (block: SyntaxBlock) => Math.abs(block.line - line);
  return blocks.toSorted((a, b) => distance(a) - distance(b) || a.line - b.line)[0];
}
