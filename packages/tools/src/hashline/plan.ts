/** Turns edits that name lines as they were shown into hunks on the current text, or into reasons why not. Pure. */
import { oncePer } from "@tau/ai/internal";
import { type Hunk, sortHunks } from "./apply.ts";
import { type Anchor, stripTag } from "./format.ts";
import { createRelocator, maxEffort, type Relocator } from "./recover.ts";
import { isVersionOf, linesOfVersion, type Version } from "./snapshots.ts";
import { getFileTag, lineTag } from "./tags.ts";
import type { TextFile } from "./text.ts";

/** A change as the model asked for it. `name` is what it is called in messages. */
export type LineEdit = FileEndEdit | AnchoredEdit;

interface FileEndEdit {
  op: "start" | "end";
  lines: string[];
  name: string;
}

interface AnchoredEdit {
  op: "replace" | "before" | "after";
  first: Anchor;
  last: Anchor;
  lines: string[];
  name: string;
}

interface PlanInput {
  edits: readonly LineEdit[];
  current: TextFile;
  /** The newest first. */
  versions: readonly Version[];
  /** The tag of the version that all anchors belong to; without it every anchor has a tag of its own. */
  fileTag?: string;
}

/** Lines, 0-based, `end` not included. */
export interface Span {
  start: number;
  end: number;
}

export interface Refusal {
  kind: "refused";
  code: "stale" | "invalid_input";
  reasons: string[];
  /** The lines of the current text that the model has to see before it tries again. */
  spots: Span[];
}

export type Plan = { kind: "ready"; hunks: Hunk[]; notes: string[] } | Refusal;

type Placed = { kind: "placed"; hunks: Hunk[]; note?: string } | Failed;

interface Failed {
  kind: "failed";
  reason: string;
  spot: Span;
  code?: "invalid_input";
}

const fail = ({ name }: LineEdit, why: string, spot: Span): Failed => ({
  kind: "failed",
  reason: `${name}: ${why}`,
  spot,
});

/** All edits or none: one that cannot be placed for certain refuses them all. */
export function planLineEdits(request: PlanInput): Plan {
  const input = { ...request, edits: withoutTags(request) };
  const now = getState(input);
  const placed = input.edits.map((edit) => place(edit, input, now));
  const failed = placed.filter((placement) => placement.kind === "failed");
  if (failed.length > 0) {
    return {
      kind: "refused",
      code: failed.every((placement) => placement.code) ? "invalid_input" : "stale",
      reasons: [...new Set(failed.map((placement) => placement.reason))],
      spots: failed.map((placement) => placement.spot),
    };
  }
  const ready = placed.filter((placement) => placement.kind === "placed");
  return {
    kind: "ready",
    hunks: sortHunks(ready.flatMap((placement) => placement.hunks)),
    notes: ready.flatMap((placement) => placement.note ?? []),
  };
}

/** The edits without tags that were pasted into new text. */
function withoutTags({ edits, versions }: PlanInput): LineEdit[] {
  const wasShown = (number: number, tag: string) =>
    versions.some(({ shown }) => {
      const line = shown[number - 1];
      return line !== undefined && lineTag(line) === tag;
    });
  return edits.map((edit) => ({ ...edit, lines: edit.lines.map((line) => stripTag(line, wasShown)) }));
}

/** Computed once for all edits, since it needs the whole text. */
interface State {
  isCurrent(version: Version): boolean;
  getRelocator(version: Version): Relocator | undefined;
}

function getState({ current }: PlanInput): State {
  const effort = { steps: maxEffort };
  return {
    isCurrent: oncePer((version) => isVersionOf(version, current) && matchesShown(version, current)),
    getRelocator: oncePer((version) => {
      const before = linesOfVersion(version, current);
      return before && createRelocator(before, current.lines, effort);
    }),
  };
}

/** Where the text was not kept, its hash alone is no proof: every line that was shown must still be there. */
const matchesShown = ({ text, shown }: Version, current: TextFile): boolean =>
  text !== undefined || shown.every((line, index) => line === undefined || line === current.line(index));

function place(edit: LineEdit, input: PlanInput, now: State): Placed {
  const { current, versions, fileTag } = input;
  if (!("first" in edit)) {
    const index = edit.op === "start" ? 0 : current.count;
    const isKnown =
      fileTag === undefined ||
      versions.some((version) => version.tag === fileTag) ||
      getFileTag(current.hash) === fileTag;
    if (isKnown)
      return { kind: "placed", hunks: [{ start: index, end: index, lines: edit.lines, follows: edit.op === "end" }] };
    return unknownTag(edit, fileTag, { start: index, end: index });
  }
  const span: Span = { start: edit.first.line - 1, end: edit.last.line };
  const bases = getBases(edit, span, input);
  if (bases.kind === "failed") return bases;
  const from = (version: Version): Placed =>
    now.isCurrent(version) ? { kind: "placed", hunks: [toHunk(edit, span)] } : recover(edit, span, version, input, now);
  const [newest, ...others] = bases.versions.map(from);
  // Calls of one batch do not know each other's results: an older version may be meant, even if a newer one fits too.
  if (others.some((other) => isElsewhere(other, newest!))) return ambiguous(edit, span);
  if (newest!.kind === "failed" || edit.op !== "replace" || !hasTwoTexts(bases.versions, span)) return newest!;
  const note = `${edit.name}: ${spell(span)} had changed since they were first shown; the newer text was replaced.`;
  return { ...newest!, note: newest!.note === undefined ? note : `${newest!.note} ${note}` };
}

/**
 * Inner lines of a range have no tags, so a caller that knows only the older text cannot be distinguished from one that
 * knows both.
 */
const hasTwoTexts = ([newest, ...others]: readonly Version[], span: Span): boolean =>
  others.some(({ shown }) => numbers(span).some((index) => shown[index] !== newest!.shown[index]));

const isElsewhere = (a: Placed, b: Placed) =>
  a.kind === "placed" && b.kind === "placed" && a.hunks[0]?.start !== b.hunks[0]?.start;

const ambiguous = (edit: LineEdit, span: Span): Failed =>
  fail(edit, `the same tag was shown for two different texts of ${spell(span)}.`, span);

/** Whether a line was shown in a version as an anchor names it. */
export function fitsAnchor(version: Version, { line, tag }: Anchor): boolean {
  const shown = version.shown[line - 1];
  return shown !== undefined && (tag === undefined || lineTag(shown) === tag);
}

/** The versions in which the lines were shown as the edit names them, the newest first; at least one. */
function getBases(
  edit: AnchoredEdit,
  span: Span,
  { versions, fileTag, current }: PlanInput,
): { kind: "found"; versions: Version[] } | Failed {
  const meant = versions.filter((version) => fileTag === undefined || version.tag === fileTag);
  const anchored = meant.filter((version) => fitsAnchor(version, edit.first) && fitsAnchor(version, edit.last));
  // Lines that are replaced must have been shown. An insertion after a block needs only its two ends.
  const needed = edit.op === "after" ? { start: span.end - 1, end: span.end } : span;
  const seen = anchored.filter((version) => isShown(version, needed));
  const [version, ...others] = seen;
  if (!version) {
    const isUnseen = anchored.length > 0 || !meant.some((placement) => isShown(placement, needed));
    const isBeyond = span.end > current.count;
    if (fileTag !== undefined && meant.length === 0) return unknownTag(edit, fileTag, span);
    if (isUnseen && isBeyond) {
      const why = `the file ends at line ${current.count}; there is no line ${span.end}.`;
      return { ...fail(edit, why, span), code: "invalid_input" };
    }
    if (isUnseen) return fail(edit, `${spell(needed)} had not been shown with tags yet.`, needed);
    return fail(edit, `the tag does not belong to ${spell(span)} as last shown.`, span);
  }
  // Short tags collide. Where the same tag was shown for two different texts, it is not known which is meant.
  const ends = fileTag === undefined ? [span.start, span.end - 1] : numbers(span);
  const isAmbiguous = others.some((other) => ends.some((index) => other.shown[index] !== version.shown[index]));
  return isAmbiguous ? ambiguous(edit, span) : { kind: "found", versions: seen };
}

const numbers = ({ start, end }: Span) => Array.from({ length: end - start }, (_unused, index) => start + index);
const isShown = (version: Version, span: Span) => {
  for (let index = span.start; index < span.end; index++) if (version.shown[index] === undefined) return false;
  return true;
};
const spell = ({ start, end }: Span) => (end - start === 1 ? `line ${end}` : `lines ${start + 1}-${end}`);
const unknownTag = (edit: LineEdit, tag: string, span: Span): Failed =>
  fail(edit, `the tag ${tag} is of no text of this file that is still remembered.`, span);

function toHunk({ op, lines }: LineEdit, { start, end }: Span): Hunk {
  if (op === "before") return { start, end: start, lines };
  if (op === "after") return { start: end, end, lines, follows: true };
  return { start, end, lines };
}

/** First through the session's own edits, which are known exactly; then through other changes, as far as that is certain. */
function recover(edit: LineEdit, shown: Span, base: Version, { versions }: PlanInput, now: State): Placed {
  let version = base;
  let span = shown;
  while (!now.isCurrent(version)) {
    const next = findSuccessor(version, versions);
    if (!next?.madeFrom) break;
    const moved = moveThrough(span, next.madeFrom.hunks);
    if (!moved) return fail(edit, `an earlier edit of yours changed ${spell(shown)}.`, span);
    version = next;
    span = moved;
  }
  const movedTo = (target: Span) => (target.start === shown.start ? "" : `, now ${spell(target)}`);
  if (now.isCurrent(version)) {
    const note = movedTo(span) && `${edit.name}: ${spell(shown)} moved by earlier edits${movedTo(span)}.`;
    return { kind: "placed", hunks: [toHunk(edit, span)], ...(note && { note }) };
  }
  const relocator = now.getRelocator(version);
  const relocated = relocator?.place(toHunk(edit, span), span);
  if (!relocated) {
    const start = relocator?.guess(span.start) ?? span.start;
    const were = span.end - span.start === 1 ? "it was" : "they were";
    const spot = { start, end: start + span.end - span.start };
    return fail(edit, `the file changed at ${spell(shown)} since ${were} shown.`, spot);
  }
  const rebuilt = version.text === undefined ? " (rebuilt from the lines that were read)" : "";
  const [first] = relocated.hunks;
  if (relocated.way === "merged") {
    const how = first ? "merged line by line" : "nothing left to do, the change was already there";
    const note = `${edit.name}: the file changed since it was read${rebuilt}; ${how}.`;
    return { kind: "placed", hunks: relocated.hunks, note };
  }
  const offset = first ? first.start - toHunk(edit, span).start : 0;
  const target = { start: span.start + offset, end: span.end + offset };
  const note = `${edit.name}: the file changed since it was read${rebuilt}; ${spell(shown)} found unchanged${movedTo(target)}.`;
  return { kind: "placed", hunks: relocated.hunks, note };
}

/** The newer version that an edit of the session made of this one. */
const findSuccessor = (version: Version, versions: readonly Version[]) =>
  versions.slice(0, versions.indexOf(version)).find(({ madeFrom }) => madeFrom?.id === version.id);

/** Where lines are after hunks; undefined when they are no longer all there, side by side. */
function moveThrough({ start, end }: Span, hunks: readonly Hunk[]): Span | undefined {
  let shift = 0;
  for (const hunk of hunks) {
    if (hunk.end <= start) shift += hunk.lines.length - (hunk.end - hunk.start);
    else if (hunk.start < end) return undefined;
  }
  return { start: start + shift, end: end + shift };
}
