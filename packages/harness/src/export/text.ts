/** Makes values of a session fit to be shown. Nothing in a session is trusted, not even the types of its fields. */

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** For text and for quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!);

/**
 * Well-formed, with line feeds only, without control characters. Characters that change the direction of reading are
 * replaced by their names: they would make code look different from what runs.
 */
export function clean(text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, "\n").replace(controls, "\u{FFFD}").replace(directions, toName);
}

const toName = (character: string) => `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`;

// oxlint-disable-next-line no-control-regex -- they are to be removed
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Marks and overrides of direction, and tag characters, which are invisible. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/**
 * Replaces invisible characters by their names. For commands and arguments: removing an escape sequence could hide a part
 * of a command that a shell runs.
 */
export const showHidden = (text: string): string => text.toWellFormed().replace(hidden, toName);

const hidden =
  // oxlint-disable-next-line no-control-regex -- they are to be shown
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u115f\u1160\u180e\u200b\u2028\u2029\u2060-\u2064\u3164\ufeff\uffa0]/g;

/** CSI with its parameters; strings such as titles and links, if they are terminated; any other escape sequence. */
export const escapeSequence =
  // oxlint-disable-next-line no-control-regex -- they are to be removed
  /\u001b(?:\[([0-?]*)[ -/]*([@-~])?|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~]?)/g;

/** For output only: see `showHidden`. */
export const removeEscapeSequences = (text: string): string => text.replace(escapeSequence, "");

/** Cleaned and escaped. */
export const html = (text: string): string => escapeHtml(clean(text));

/** A string as it is, nothing for undefined and null, and any other value as JSON. */
export function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : toJson(value);
}

/** Deeper values are omitted: they would overflow the stack. */
const maxJsonDepth = 32;

/** Indented JSON of any value. */
export const toJson = (value: unknown): string => JSON.stringify(limitDepth(value, 0), undefined, 2) ?? "";

function limitDepth(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth >= maxJsonDepth) return "…";
  if (Array.isArray(value)) return value.map((item) => limitDepth(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, limitDepth(item, depth + 1)]));
}

interface CallCode {
  /** Empty if no argument is code. */
  code: string;
  /** Empty if it is not said. */
  language: string;
  /** The other arguments as JSON; empty if there are none. */
  rest: string;
}

/** Splits the arguments of a call: commands and cells are easier to read as text than as a JSON string. */
export function splitCode(args: Fields, names: readonly string[]): CallCode {
  const name = names.find((each) => typeof args[each] === "string");
  const others = Object.entries(args).filter(([key]) => key !== name);
  const language = toText(args.language);
  return {
    code: name === undefined ? "" : toText(args[name]),
    language: /^[\w+-]{1,20}$/.test(language) ? language : "",
    rest: others.length === 0 ? "" : toJson(Object.fromEntries(others)),
  };
}

interface Cut {
  text: string;
  /** Characters. */
  omitted: number;
}

/** At most `maxChars` from the beginning. Never splits a surrogate pair. */
export function cut(text: string, maxChars: number): Cut {
  if (text.length <= maxChars) return { text, omitted: 0 };
  const isSplit = /[\ud800-\udbff]/.test(text.charAt(maxChars - 1));
  const end = isSplit ? maxChars - 1 : maxChars;
  return { text: text.slice(0, end), omitted: text.length - end };
}

/** The beginning of a text in one line. */
export function excerpt(text: string, maxChars: number): string {
  const line = clean(showHidden(text.slice(0, maxChars * 4)))
    .replace(/\s+/g, " ")
    .trim();
  return line.length > maxChars ? `${cut(line, maxChars - 1).text}…` : line;
}

/** Formats milliseconds or an ISO time in UTC. Any other value is returned as text. */
export function formatTime(time: unknown): string {
  const ms = typeof time === "number" ? time : Date.parse(toText(time));
  // The largest time that a Date can hold.
  if (!(Math.abs(ms) <= 8.64e15)) return toText(time);
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** With separators, the same in every locale. */
export const formatCount = (count: number): string => String(Math.round(count)).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** An object of which no field is validated. */
export type Fields = Readonly<Record<string, unknown>>;

/** Empty for anything but an object. */
export const toFields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
