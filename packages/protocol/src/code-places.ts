/** Places in source files and stops of a debugger, as tools put them into the details of their results. Pure. */
import { type Fields, getText, toFields } from "./surface/fields.ts";
import { pluralise } from "./surface/format.ts";

export type CodeSeverity = "error" | "warning" | "info" | "hint";

/** A place in a file. Lines and columns are counted from 1. */
export interface CodePlace {
  /** Relative to the working directory, or absolute. */
  path: string;
  line: number;
  /** In UTF-16 units. */
  column?: number;
  /** The last line of the place. */
  endLine?: number;
  severity?: CodeSeverity;
  /** Says what is wrong there, or what the place is. */
  message?: string;
  /** The program that reported it and its code for it, such as `ts 2322`. */
  source?: string;
  /** The name of the symbol at the place. */
  name?: string;
  /** The kind of the symbol, such as `function`. */
  kind?: string;
  excerpt?: CodeExcerpt;
}

/** Lines of a file. */
export interface CodeExcerpt {
  /** The number of the first of the lines. */
  firstLine: number;
  lines: string[];
  /** The number of the line to mark, counted like `firstLine`. Default: the line of the place. */
  current?: number;
}

/** The details of a result with the view `places`. */
export interface PlacesDetails {
  places: CodePlace[];
}

/** A program that a debugger has stopped. */
export interface DebuggerStop {
  /** Such as `breakpoint`, `step` or `exception`. */
  reason: string;
  place?: CodePlace;
  /** The innermost one first. */
  frames?: StackFrame[];
  variables?: DebuggerVariable[];
  /** The end of what the program has written since the last stop. */
  output?: string;
}

export interface StackFrame {
  name: string;
  place?: CodePlace;
}

export interface DebuggerVariable {
  name: string;
  value: string;
  type?: string;
}

/** The details of a result with the view `step`. */
export interface StepDetails {
  stop: DebuggerStop;
}

/** The details of a result with the view `cell`. */
export interface CellDetails {
  /** The value of the cell's last expression as text. Shown below the output, unless the output ends with it. */
  result?: string;
}

/** How much of untrusted details is kept. Lengths are in UTF-16 units. */
const limits = {
  places: 1_000,
  excerptLines: 40,
  /** In all places together. Later excerpts are left out. */
  allExcerptLines: 2_000,
  frames: 100,
  variables: 200,
  lineLength: 500,
  nameLength: 200,
  pathLength: 1_000,
  textLength: 4_000,
  outputLength: 16_000,
  /** Larger numbers are not numbers of lines. */
  number: 1e9,
} as const;

export interface ParsedPlaces {
  places: CodePlace[];
  /** How many more there are. */
  omitted: number;
}

/** Reads the places in the details of a result. Leaves out what is not a place, and cuts what is too long or too much. */
export function parsePlaces(details: unknown): ParsedPlaces {
  const { places } = toFields(details);
  if (!Array.isArray(places)) return { places: [], omitted: 0 };
  const parsed = places.slice(0, limits.places).flatMap((place) => parsePlace(place) ?? []);
  return { places: limitExcerpts(parsed), omitted: Math.max(0, places.length - limits.places) };
}

function limitExcerpts(places: readonly CodePlace[]): CodePlace[] {
  let lines = 0;
  return places.map((place) => {
    lines += place.excerpt?.lines.length ?? 0;
    if (lines <= limits.allExcerptLines) return place;
    const { excerpt: _, ...rest } = place;
    return rest;
  });
}

/** Reads the stop in the details of a result; undefined if there is none. */
export function parseStop(details: unknown): DebuggerStop | undefined {
  const fields = toFields(toFields(details)["stop"]);
  const reason = cutText(fields["reason"], limits.nameLength);
  if (reason === undefined) return undefined;
  const place = parsePlace(fields["place"]);
  const frames = parseList(fields["frames"], limits.frames, parseFrame);
  const variables = parseList(fields["variables"], limits.variables, parseVariable);
  const output = getText(fields["output"]).slice(-limits.outputLength);
  return {
    reason,
    ...(place && { place }),
    ...(frames.length > 0 && { frames }),
    ...(variables.length > 0 && { variables }),
    ...(output !== "" && { output: output.toWellFormed() }),
  };
}

/** Reads the value of a cell in the details of a result; undefined if there is none. */
export const getCellResult = (details: unknown): string | undefined =>
  cutText(toFields(details)["result"], limits.textLength);

function parsePlace(value: unknown): CodePlace | undefined {
  const fields = toFields(value);
  const path = cutText(fields["path"], limits.pathLength);
  const line = parseNumber(fields["line"]);
  if (path === undefined || line === undefined) return undefined;
  const severity = severities.find((known) => known === fields["severity"]);
  const excerpt = parseExcerpt(fields["excerpt"]);
  return {
    path,
    line,
    ...withoutUndefined({
      column: parseNumber(fields["column"]),
      endLine: parseNumber(fields["endLine"]),
      severity,
      message: cutText(fields["message"], limits.textLength),
      source: cutText(fields["source"], limits.nameLength),
      name: cutText(fields["name"], limits.nameLength),
      kind: cutText(fields["kind"], limits.nameLength),
      excerpt,
    }),
  };
}

function parseExcerpt(value: unknown): CodeExcerpt | undefined {
  const { firstLine, lines, current } = toFields(value);
  const first = parseNumber(firstLine);
  if (first === undefined || !Array.isArray(lines) || lines.length === 0) return undefined;
  const kept = lines.slice(0, limits.excerptLines).map((line) => cutText(line, limits.lineLength) ?? "");
  return { firstLine: first, lines: kept, ...withoutUndefined({ current: parseNumber(current) }) };
}

function parseFrame(fields: Fields): StackFrame | undefined {
  const name = cutText(fields["name"], limits.nameLength);
  const place = parsePlace(fields["place"]);
  return name === undefined ? undefined : { name, ...(place && { place }) };
}

function parseVariable(fields: Fields): DebuggerVariable | undefined {
  const name = cutText(fields["name"], limits.nameLength);
  if (name === undefined) return undefined;
  const type = cutText(fields["type"], limits.nameLength);
  return { name, value: cutText(fields["value"], limits.lineLength) ?? "", ...withoutUndefined({ type }) };
}

const parseList = <T>(value: unknown, max: number, parse: (fields: Fields) => T | undefined): T[] =>
  Array.isArray(value) ? value.slice(0, max).flatMap((item) => parse(toFields(item)) ?? []) : [];

const parseNumber = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= limits.number ? value : undefined;

/** Undefined for an empty text and for anything else than text. Never splits a surrogate pair. */
function cutText(value: unknown, maxLength: number): string | undefined {
  const text = getText(value);
  if (text === "") return undefined;
  return text.length <= maxLength
    ? text.toWellFormed()
    : `${text
        .slice(0, maxLength - 1)
        .replace(/[\ud800-\udbff]$/, "")
        .toWellFormed()}…`;
}

type WithoutUndefined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const withoutUndefined = <T extends object>(fields: T): WithoutUndefined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>;

/** From the gravest to the least grave. Each is also the word that is shown. */
const severities: readonly CodeSeverity[] = ["error", "warning", "info", "hint"];

/** Formats a place as `path:line:column`, which terminals and editors can open. */
export const formatPlace = ({ path, line, column }: CodePlace): string =>
  `${path}:${line}${column === undefined ? "" : `:${column}`}`;

/** Describes a place after its path: its symbol, its message and who reported it. Empty if there is nothing to say. */
export function describePlace({ name, kind, message, source }: CodePlace): string {
  const symbol = [kind, name].filter((word) => word !== undefined).join(" ");
  const text = symbol !== "" && message !== undefined ? `${symbol}: ${message}` : (message ?? symbol);
  return [text, source === undefined ? "" : `(${source})`].filter((part) => part !== "").join(" ");
}

export interface ExcerptLine {
  number: number;
  text: string;
  /** Whether it is marked. */
  isCurrent: boolean;
}

/** Lists the lines of a place's excerpt with their numbers; `radius` keeps only so many around the marked line. */
export function listExcerptLines({ line, excerpt }: CodePlace, radius = Infinity): ExcerptLine[] {
  if (!excerpt) return [];
  const current = excerpt.current ?? line;
  const { firstLine, lines } = excerpt;
  const isMarked = current >= firstLine && current < firstLine + lines.length;
  const center = isMarked ? current : firstLine;
  return lines
    .map((text, index) => ({ number: firstLine + index, text, isCurrent: firstLine + index === current }))
    .filter(({ number }) => Math.abs(number - center) <= radius);
}

/** Describes a stop in one line: its reason, where it is, and in which function. */
export function describeStop({ reason, place, frames }: DebuggerStop): string {
  const [frame] = frames ?? [];
  const where = place ?? frame?.place;
  return [reason, where && `at ${formatPlace(where)}`, frame && `in ${frame.name}`].filter(Boolean).join(" ");
}

/** Formats a variable as `name: type = value`. */
export const formatVariable = ({ name, value, type }: DebuggerVariable): string =>
  `${name}${type === undefined ? "" : `: ${type}`} = ${value}`;

/** Counts places by their severity, or all of them where none has one: "2 errors, 1 warning", "3 places". */
export function countPlaces({ places, omitted }: ParsedPlaces): string {
  const counts = severities.flatMap((severity) => {
    const count = places.filter((place) => place.severity === severity).length;
    return count === 0 ? [] : [severity === "info" ? `${count} info` : pluralise(count, severity)];
  });
  // Severities of places that were left out are not known.
  if (counts.length > 0 && omitted === 0) return counts.join(", ");
  return pluralise(places.length + omitted, "place");
}
