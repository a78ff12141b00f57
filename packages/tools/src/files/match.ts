/** Finds where edits apply in a text, and what they change there. Pure. */
import { ToolsError } from "../errors.ts";
import { getEnd, foldBreaks, type Folded, foldLoosely, getStart, isBoundary, unfolded, unitsBefore } from "./fold.ts";
import { keepForms } from "./keep-forms.ts";
import { describeNearest } from "./nearest.ts";
import { hasRawBytes } from "./text-file.ts";

export interface TextEdit {
  oldText: string;
  newText: string;
}

/** `source.slice(from, to)` becomes `text`. */
export interface Change {
  from: number;
  to: number;
  text: string;
}

export interface PlannedEdit {
  /** The beginning of what `oldText` matched, which ends before `end`. The change lies inside. */
  start: number;
  end: number;
  change: Change;
  /** Whether it matched only after normalising. */
  isLoose: boolean;
}

interface Spot {
  start: number;
  end: number;
  /** The text that was searched, and the unit of it where the match begins. */
  folded: Folded;
  unit: number;
  /** The text that was searched for; its source is `oldText` with LF. */
  needle: Folded;
  isLoose: boolean;
}

const maxSpots = 1_000;
const maxNamedLines = 100;

/**
 * Places every edit on the original text. Throws if one is not found, not unique, changes nothing, or overlaps another.
 * In the order of the text. `name` is the file's name in messages.
 */
export function planEdits(source: string, edits: readonly TextEdit[], name: string): PlannedEdit[] {
  const views = createViews(source);
  const planned = edits.map((edit, index) => {
    const label = edits.length === 1 ? "oldText" : `edits[${index}].oldText`;
    return {
      label,
      ...planEdit(views, { oldText: edit.oldText.toWellFormed(), newText: edit.newText.toWellFormed() }, label, name),
    };
  });
  planned.sort((a, b) => a.start - b.start);
  for (const [index, next] of planned.entries()) {
    const before = planned[index - 1];
    if (!before || before.end <= next.start) continue;
    const [a, b] = [before, next].map((edit) => `${edit.label} (${describeRange(source, edit)})`);
    throw new ToolsError("overlap", `${a} and ${b} overlap in ${name}. Join them into one edit.`);
  }
  return planned;
}

/** At how many places an edit would apply, up to a limit. */
export const countMatches = (source: string, oldText: string): number =>
  oldText === "" ? 0 : findSpots(createViews(source), oldText.toWellFormed()).length;

export function applyChanges(source: string, changes: readonly Change[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const { from, to, text } of changes) {
    parts.push(source.slice(done, from), text);
    done = to;
  }
  return [...parts, source.slice(done)].join("");
}

/** The 1-based line numbers of positions, which must ascend. */
function lineNumbers(source: string, positions: readonly number[]): number[] {
  let line = 1;
  let next = source.indexOf("\n");
  return positions.map((position) => {
    for (; next >= 0 && next < position; next = source.indexOf("\n", next + 1)) line++;
    return line;
  });
}

/** The text in the forms that are searched, each made once and only if it is needed. */
interface Views {
  source: string;
  breaks(): Folded;
  loose(): Folded;
}

function createViews(source: string): Views {
  let breaks: Folded | undefined;
  let loose: Folded | undefined;
  return {
    source,
    breaks: () => (breaks ??= foldBreaks(source)),
    loose: () => (loose ??= foldLoosely(source, { keepsEnd: false })),
  };
}

function planEdit(views: Views, edit: TextEdit, label: string, name: string): PlannedEdit {
  if (edit.oldText === "") {
    throw new ToolsError(
      "invalid_input",
      `${label} is empty. Give text that is in ${name}; to create a file or replace all of it, use write.`,
    );
  }
  const spots = findSpots(views, edit.oldText);
  const [spot] = spots;
  if (!spot) throw notFound(views, edit.oldText, label, name);
  if (spots.length > 1) throw ambiguous(views.source, spots, label, name);
  const change = keepApart(views.source, changeAt(views.source, spot, edit), spot);
  if (!change) {
    throw new ToolsError(
      "invalid_input",
      `Removing ${label} from ${name} would join the CR before it and the LF after it into one line break. Put the line before or after it into the edit, with the \\r written out.`,
    );
  }
  const current = views.source.slice(change.from, change.to);
  if (current === change.text) {
    throw new ToolsError(
      "invalid_input",
      `Replacing ${label} by its newText would change nothing in ${name}. Line endings stay as they are.`,
    );
  }
  if (change.text.includes("\ufffd") && hasRawBytes(current)) {
    throw new ToolsError(
      "binary",
      `${name} holds bytes there that are not UTF-8 and show as \ufffd; newText would replace them. Leave them out of the edit, or use a script in bash.`,
    );
  }
  return { start: spot.start, end: Math.max(spot.end, change.to), change, isLoose: spot.isLoose };
}

/** Exact matches or, if there are none, loose ones. Line breaks never matter, since reading does not show them. */
function findSpots(views: Views, oldText: string): Spot[] {
  const wanted = foldBreaks(oldText).text;
  const exact = search(views.breaks(), unfolded(wanted), { isLoose: false, isWhole: oldText.includes("\r") });
  // Carriage returns that the model writes are meant literally, if that matches anything.
  const literal = oldText.includes("\r")
    ? exact.filter(({ start, end }) => views.source.slice(start, end) === oldText)
    : [];
  if (literal.length > 0) return literal;
  if (exact.length > 0) return exact;
  const inside = search(views.loose(), foldLoosely(wanted, { keepsEnd: true }), { isLoose: true, isWhole: false });
  if (inside.length > 0) return inside;
  const atEnds = search(views.loose(), foldLoosely(wanted, { keepsEnd: false }), { isLoose: true, isWhole: true });
  return atEnds.flatMap(toLineEnd);
}

/**
 * `isWhole`: all spots, since they are chosen among. Otherwise two that overlap are enough to know that it is not unique,
 * and the rest are only counted: a long text that repeats itself would be compared all over for every step of one.
 */
function search(folded: Folded, needle: Folded, { isLoose, isWhole }: { isLoose: boolean; isWhole: boolean }): Spot[] {
  const spots: Spot[] = [];
  const length = needle.text.length;
  if (length === 0) return spots;
  for (let unit = folded.text.indexOf(needle.text); unit >= 0;) {
    if ([unit, unit + length].every((border) => isBoundary(folded, border) && !(isLoose && isMark(folded, border)))) {
      const [start, end] = [getStart(folded, unit), getEnd(folded, unit + length - 1)];
      spots.push({ start, end, folded, unit, needle, isLoose });
    }
    if (spots.length === maxSpots) break;
    unit = folded.text.indexOf(needle.text, unit + (isWhole || spots.length < 2 ? 1 : length));
  }
  return spots;
}

/** Whether a mark such as an accent follows: it belongs to the letter before, and would join another one. */
const isMark = ({ text }: Folded, unit: number): boolean => /^\p{M}/u.test(text.slice(unit, unit + 2));

/** The blanks that end `oldText` can only be those at the end of a line: they are part of the match. */
function toLineEnd(spot: Spot): Spot[] {
  const { folded, unit, needle } = spot;
  const after = unit + needle.text.length;
  if (after === folded.text.length) return [{ ...spot, end: folded.source.length }];
  return folded.text[after] === "\n" ? [{ ...spot, end: getStart(folded, after) }] : [];
}

/** Only the part in which old and new text differ changes, so that the rest of the match keeps its bytes too. */
function changeAt(source: string, spot: Spot, { oldText, newText }: TextEdit): Change {
  const isLiteral = source.slice(spot.start, spot.end) === oldText;
  if (isLiteral && newText.includes("\r")) return { from: spot.start, to: spot.end, text: newText };
  const before = spot.needle.source;
  const after = foldBreaks(newText).text;
  const minLength = Math.min(before.length, after.length);
  const isSplit = (position: number) => !isBoundary(spot.folded, spot.unit + unitsBefore(spot.needle, position));
  let head = 0;
  while (head < minLength && before[head] === after[head]) head++;
  while (isSplit(head)) head--;
  head = Math.min(head, getLastEnd(spot.needle, unitsBefore(spot.needle, head)));
  let tail = 0;
  while (tail < minLength - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  while (isSplit(before.length - tail)) tail--;
  const [fromUnits, toUnits] = [unitsBefore(spot.needle, head), unitsBefore(spot.needle, before.length - tail)];
  const from = fromUnits === 0 ? spot.start : getEnd(spot.folded, spot.unit + fromUnits - 1);
  const to = fromUnits === toUnits ? from : getPosition(spot, toUnits);
  const changed = after.slice(head, after.length - tail);
  const part = { ...spot, from: head, to: before.length - tail, after: changed };
  const change = { from, to, text: withBreaks(spot.isLoose ? keepForms(part) : changed, source, from, to) };
  const [restOfLine = ""] = after.slice(after.length - tail).split("\n", 1);
  return before === after || /[ \t]$/.test(restOfLine) ? change : withoutBlanks(change, spot, toUnits);
}

/** Where the first units end in the source: blanks after them that were left out do not count as searched text. */
const getLastEnd = (folded: Folded, units: number): number => (units === 0 ? 0 : getEnd(folded, units - 1));

/** The blanks that end a changed line go too, because the new text does not have them. */
function withoutBlanks(change: Change, { folded, unit, needle, isLoose }: Spot, toUnits: number): Change {
  if (!isLoose) return change;
  let end = unit + toUnits;
  while (end < unit + needle.text.length && folded.text[end] !== "\n") end++;
  const isLast = end === folded.text.length;
  if (!isLast && folded.text[end] !== "\n") return change;
  const rest = folded.source.slice(change.to, end > unit + toUnits ? getEnd(folded, end - 1) : change.to);
  const to = isLast ? folded.source.length : getStart(folded, end);
  return { ...change, to, text: change.text + rest };
}

/** The position in the source after a number of units of the needle. */
function getPosition({ start, end, folded, unit, needle }: Spot, units: number): number {
  if (units === 0) return start;
  return units === needle.text.length ? end : getEnd(folded, unit + units - 1);
}

/** Line breaks as they were, one by one, and further ones like the nearest. */
export function withBreaks(text: string, source: string, from: number, to: number): string {
  if (!source.includes("\r")) return text;
  const breaks = source.slice(from, to).match(/\r\n|\r|\n/g) ?? [];
  const further = breaks.at(-1) ?? nearestBreak(source, from, to);
  let index = 0;
  let last = "";
  return text.replaceAll("\n", (_feed, position: number) => {
    const wanted = breaks[index++] ?? further;
    const isJoined = wanted === "\n" && last === "\r" && text[position - 1] === "\n";
    last = isJoined ? "\r\n" : wanted;
    return last;
  });
}

function nearestBreak(source: string, from: number, to: number): string {
  const next = source.indexOf("\n", to);
  const feed = next >= 0 || from === 0 ? next : source.lastIndexOf("\n", from - 1);
  if (feed < 0) return "\r";
  return feed > 0 && source[feed - 1] === "\r" ? "\r\n" : "\n";
}

/**
 * Keeps a CR and an LF apart that would come to stand side by side and become one line break. Undefined when nothing of
 * the match is left that could separate them.
 */
function keepApart(source: string, change: Change, { start, end }: Spot): Change | undefined {
  const { from, to, text } = change;
  const [isAfterReturn, isBeforeFeed] = [source[from - 1] === "\r", source[to] === "\n"];
  if (text === "" && isAfterReturn && isBeforeFeed) {
    // One of the two becomes CRLF, if it belongs to the match.
    if (from > start) return { from, to, text: "\n" };
    return to < end ? { from, to, text: "\r" } : undefined;
  }
  const head = isAfterReturn && text.startsWith("\n") ? "\r" : "";
  const tail = isBeforeFeed && text.endsWith("\r") ? "\n" : "";
  return { from, to, text: `${head}${text}${tail}` };
}

function ambiguous(source: string, spots: readonly Spot[], label: string, name: string): ToolsError {
  const lines = lineNumbers(
    source,
    spots.slice(0, maxNamedLines).map(({ start }) => start),
  );
  const count = spots.length === maxSpots ? `${maxSpots} or more` : String(spots.length);
  const more = spots.length > maxNamedLines ? " and further ones" : "";
  return new ToolsError(
    "ambiguous",
    `${label} is in ${name} ${count} times: at lines ${lines.join(", ")}${more}. Add lines around it until it is unique.`,
  );
}

function notFound(views: Views, oldText: string, label: string, name: string): ToolsError {
  const nearest = describeNearest(views.source, oldText);
  const advice = nearest || `Nothing similar is there. Read ${name} and copy the text from there.`;
  return new ToolsError("no_match", `${label} was not found in ${name}. ${advice}`);
}

function describeRange(source: string, { start, end }: PlannedEdit): string {
  const [first, last] = lineNumbers(source, [start, end - 1]);
  return first === last ? `line ${first}` : `lines ${first}-${last}`;
}
