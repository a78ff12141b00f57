/**
 * Lines of older sessions in today's form, one at a time and in the order of the file. Version 1 was linear and had no ids;
 * version 2 had another name for what extensions say. Pure but for what a migration remembers of the lines before.
 */
import { type SessionEntry, type SessionHeader, sessionVersion } from "./entry.ts";

/** An entry as it was read: nothing is known of it but its type. */
export interface RawEntry {
  type: string;
  [field: string]: unknown;
}

/** Takes the entries in the order of the file, with the numbers of their lines. The header is line 1. */
export type Migration = (entry: RawEntry, lineNumber: number) => SessionEntry;

/** The id of an entry that has none: its line in hex. The same file always gives the same ids. */
export const idOfLine = (lineNumber: number): string => lineNumber.toString(16).padStart(8, "0");

/** What a header says of the version. Files of before versions were counted do not name one. */
export const getVersion = (header: Readonly<Record<string, unknown>>): number =>
  typeof header.version === "number" && header.version >= 1 ? Math.floor(header.version) : 1;

/** The header of any version as today's. Fields that are not known stay. */
export function migrateHeader(header: Readonly<Record<string, unknown>>): SessionHeader {
  const { branchedFrom, ...others } = header;
  const parent = typeof branchedFrom === "string" && { parentSession: branchedFrom };
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const { id, timestamp, cwd } = header;
  const own = { id: text(id), timestamp: text(timestamp), cwd: text(cwd) };
  return { ...parent, ...others, ...own, type: "session", version: sessionVersion };
}

/** For all lines of one file whose header names `version`. A version that is newer than ours is read as ours. */
export function createMigration(version: number): Migration {
  if (version >= 3) return (entry) => entry as unknown as SessionEntry;
  if (version >= 2) return (entry) => renameRole(entry) as unknown as SessionEntry;
  const link = createLinks();
  return (entry, lineNumber) => renameRole(link(entry, lineNumber)) as unknown as SessionEntry;
}

/** Version 2 called `hookMessage` what is `custom` now. */
function renameRole(entry: RawEntry): RawEntry {
  const { message } = entry;
  if (entry.type !== "message" || typeof message !== "object" || message === null) return entry;
  if (!("role" in message) || message.role !== "hookMessage") return entry;
  return { ...entry, message: { ...message, role: "custom" } };
}

/** Gives every entry its id, and the one before it as its parent. */
function createLinks(): (entry: RawEntry, lineNumber: number) => RawEntry {
  const lines: number[] = [];
  const ids: string[] = [];
  return (entry, lineNumber) => {
    const { type, id: given, parentId: parent, ...fields } = entry;
    // A file that lost its version may have ids all the same, and labels and compactions refer to them.
    const id = typeof given === "string" && given !== "" ? given : idOfLine(lineNumber);
    const parentId = typeof parent === "string" || (parent === null && id === given) ? parent : (ids.at(-1) ?? null);
    lines.push(lineNumber);
    ids.push(id);
    const linked = { type, id, parentId, ...fields };
    return type === "compaction" ? nameFirstKept(linked, (line) => ids[firstFrom(lines, line)] ?? id) : linked;
  };
}

/** Version 1 counted lines, the header being 0. A kept line that cannot be read any more is stood for by the next. */
function nameFirstKept(entry: RawEntry, idFrom: (line: number) => string): RawEntry {
  const { firstKeptEntryIndex: index, ...fields } = entry;
  if (typeof fields.firstKeptEntryId === "string") return fields;
  return { ...fields, firstKeptEntryId: idFrom(typeof index === "number" ? index + 1 : Infinity) };
}

/** Where in ascending `lines` the first is that is not below `line`. */
function firstFrom(lines: readonly number[], line: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle]! < line) low = middle + 1;
    else high = middle;
  }
  return low;
}
