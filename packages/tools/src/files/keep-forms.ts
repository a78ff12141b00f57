/**
 * Keeps the characters of a file where an edit matched them loosely and its new text repeats them: lines that stay as they
 * are, the ends of lines that change, and full-width punctuation in between. Pure.
 */
import { type ChangeObject, diffArrays } from "diff";
import { type Folded, getEnd, getStart, isBoundary, unitsBefore } from "./fold.ts";

/** A part of an edit that matched: `before.slice(from, to)` of the searched text becomes `after`. */
interface ChangedPart {
  /** The searched text. */
  needle: Folded;
  from: number;
  to: number;
  after: string;
  /** The text in which it was found, and the unit of it where it begins. */
  folded: Folded;
  unit: number;
}

/** Differences that are looked for: more are a new text rather than a change. */
const maxEditLength = 400;

export function keepForms(part: ChangedPart): string {
  const { needle, from, to, after } = part;
  const differences = diffArrays(needle.source.slice(from, to).split("\n"), after.split("\n"), { maxEditLength });
  if (!differences) return after;
  const lines: string[] = [];
  let position = from;
  for (const [index, { value, added = false, removed = false }] of differences.entries()) {
    const next = differences[index + 1];
    // As many lines for others: each is a line that changes.
    const changed = removed && next?.added && next.value.length === value.length ? next.value : undefined;
    if (added && !isPaired(differences, index)) lines.push(...value);
    if (added) continue;
    for (const [row, oldLine] of value.entries()) {
      if (!removed) lines.push(keepLine(part, position, oldLine));
      else if (changed) lines.push(keepWithin(part, { position, oldLine, newLine: changed[row]! }));
      position += oldLine.length + 1;
    }
  }
  return lines.join("\n");
}

/** Whether added lines take the place of as many. */
const isPaired = (differences: readonly ChangeObject<string[]>[], index: number): boolean =>
  differences[index - 1]?.removed === true && differences[index - 1]?.value.length === differences[index]?.value.length;

/** A line that stays, as the file has it. */
function keepLine(part: ChangedPart, position: number, line: string): string {
  const { needle, from, to, folded, unit } = part;
  const [first, end] = [unitsBefore(needle, position), unitsBefore(needle, position + line.length)];
  const isWhole = position > from && position + line.length < to;
  if (!isWhole) return keepWithin(part, { position, oldLine: line, newLine: line });
  return folded.source.slice(getStart(folded, unit + first), getStart(folded, unit + end));
}

/** A line that changes, with the characters of the file at both ends and for full-width punctuation. */
function keepWithin(
  part: ChangedPart,
  { position, oldLine, newLine }: { position: number; oldLine: string; newLine: string },
): string {
  const differences = diffArrays(oldLine.split(""), newLine.split(""), { maxEditLength });
  if (!differences) return newLine;
  let text = "";
  let offset = position;
  for (const [index, { value, added, removed }] of differences.entries()) {
    const isEnd = index === 0 || index === differences.length - 1;
    for (const character of value) {
      const original = added || removed ? undefined : getOriginal(part, offset);
      const isKept = original !== undefined && (isEnd || fullWidth.test(original));
      if (!removed) text += isKept ? original : character;
      if (!added) offset++;
    }
  }
  return text;
}

/** Full-width forms of ASCII punctuation, and of the brackets, stops and quotes of Chinese, Japanese and Korean. */
const fullWidth = /^[\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufe10-\ufe6b\u3001-\u301f]$/;

/** The one character of the file that a character of the searched text matched; undefined if there is no such pair. */
function getOriginal({ needle, folded, unit }: ChangedPart, position: number): string | undefined {
  const [first, end] = [unitsBefore(needle, position), unitsBefore(needle, position + 1)];
  const isPair = end === first + 1 && [first, end].every((border) => isBoundary(folded, unit + border));
  return isPair ? folded.source.slice(getStart(folded, unit + first), getEnd(folded, unit + first)) : undefined;
}
