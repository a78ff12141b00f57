/** Text of a transcript made fit to be shown. Nothing of it is trusted, not even that it is text. */

const special: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** For text and for attributes in quotes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => special[character]!);

/**
 * Well-formed, with line feeds only, without control characters. What turns the direction of reading is named instead:
 * it would let code read otherwise than it runs.
 */
export function clean(text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, "\n").replace(controls, "\u{FFFD}").replace(directions, named);
}

const named = (character: string) => `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`;

// oxlint-disable-next-line no-control-regex -- they are what has to go
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Marks and overrides of direction, and letters that no font draws. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/**
 * What a model or a person wrote, with everything named that cannot be seen. Left to a terminal's rules, an escape
 * sequence would hide a part of a command that a shell runs.
 */
export const visible = (text: string): string => text.toWellFormed().replace(unseen, named);

const unseen =
  // oxlint-disable-next-line no-control-regex -- they are what has to be shown
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u115f\u1160\u180e\u200b\u2028\u2029\u2060-\u2064\u3164\ufeff\uffa0]/g;

/** CSI with its parameters; strings such as titles and links, where they have an end; any other escape. */
export const escapeSequence =
  // oxlint-disable-next-line no-control-regex -- they are what has to go
  /\u001b(?:\[([0-?]*)[ -/]*([@-~])?|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~]?)/g;

/** What a program wrote, without its orders to the terminal. For output only: see `visible`. */
export const withoutSequences = (text: string): string => text.replace(escapeSequence, "");

/** Cleaned and escaped. */
export const html = (text: string): string => escapeHtml(clean(text));

/** The text that a field is: as it is when it is one, as JSON when it is anything else, empty when there is none. */
export function getText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : toJson(value);
}

/** Deeper values are left out: a page has to be shown whatever was logged. */
const deepest = 32;

/** Indented JSON of any value. */
export const toJson = (value: unknown): string => JSON.stringify(shallow(value, 0), undefined, 2) ?? "";

function shallow(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth >= deepest) return "…";
  if (Array.isArray(value)) return value.map((item) => shallow(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shallow(item, depth + 1)]));
}

export interface Cut {
  text: string;
  /** How much is missing; 0 when nothing is. */
  leftOut: number;
}

/** At most `maxChars` from the beginning; never half a character. */
export function cut(text: string, maxChars: number): Cut {
  if (text.length <= maxChars) return { text, leftOut: 0 };
  const isSplit = /[\ud800-\udbff]/.test(text.charAt(maxChars - 1));
  const end = isSplit ? maxChars - 1 : maxChars;
  return { text: text.slice(0, end), leftOut: text.length - end };
}

/** The first words of a text, for a list: one line, short. */
export function excerpt(text: string, maxChars: number): string {
  const line = clean(visible(text.slice(0, maxChars * 4)))
    .replace(/\s+/g, " ")
    .trim();
  return line.length > maxChars ? `${cut(line, maxChars - 1).text}…` : line;
}

/** A time as everybody reads it, in UTC; what is no time stays as it is. */
export function timeText(time: unknown): string {
  const ms = typeof time === "number" ? time : Date.parse(getText(time));
  // Beyond this a Date has no text.
  if (!(Math.abs(ms) <= 8.64e15)) return getText(time);
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** A number with separators, the same on every machine. */
export const countText = (count: number): string => String(Math.round(count)).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** An object's fields to be looked at one by one; none for anything else. */
export const toFields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
