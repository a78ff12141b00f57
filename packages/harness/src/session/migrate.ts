/**
 * Converts entries of older versions, one at a time and in the order of the file. Version 1 was linear and had no ids;
 * version 2 had another name for the messages of extensions.
 */
import { isRecord } from "@tau/ai/internal";
import { type SessionEntry, type SessionHeader, sessionVersion } from "./entry.ts";

/** An entry that was not validated. */
export interface RawEntry {
  type: string;
  [field: string]: unknown;
}

/** Stateful: takes the entries of one file in order. The header is line 1. */
export type Migration = (entry: RawEntry, lineNumber: number) => SessionEntry;

/** The id of an entry without one. The same file always gets the same ids. */
export const idOfLine = (lineNumber: number): string => lineNumber.toString(16).padStart(8, "0");

/** The first version did not name itself. */
export const getVersion = (header: Readonly<Record<string, unknown>>): number =>
  typeof header.version === "number" && header.version >= 1 ? Math.floor(header.version) : 1;

/** Unknown fields are kept. */
export function migrateHeader(header: Readonly<Record<string, unknown>>): SessionHeader {
  const { branchedFrom, ...others } = header;
  const parent = typeof branchedFrom === "string" && { parentSession: branchedFrom };
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const { id, timestamp, cwd } = header;
  const own = { id: text(id), timestamp: text(timestamp), cwd: text(cwd) };
  return { ...parent, ...others, ...own, type: "session", version: sessionVersion };
}

/** Creates the migration for one file. Newer versions are not changed. */
export function createMigration(version: number): Migration {
  if (version >= 3) return (entry) => entry as unknown as SessionEntry;
  if (version >= 2) return (entry) => renameRole(entry) as unknown as SessionEntry;
  const link = createLinker();
  return (entry, lineNumber) => renameRole(link(entry, lineNumber)) as unknown as SessionEntry;
}

/** Version 2 called `hookMessage` what is `custom` now. */
function renameRole(entry: RawEntry): RawEntry {
  const { message } = entry;
  if (entry.type !== "message" || !isRecord(message) || message["role"] !== "hookMessage") return entry;
  return { ...entry, message: { ...message, role: "custom" } };
}

/** Gives each entry an id, and the entry before it as its parent. */
function createLinker(): (entry: RawEntry, lineNumber: number) => RawEntry {
  const lines: number[] = [];
  const ids: string[] = [];
  return (entry, lineNumber) => {
    const { type, id: ownId, parentId: ownParent, ...fields } = entry;
    // A file without a version may still have ids, and labels and compactions refer to them.
    const id = typeof ownId === "string" && ownId !== "" ? ownId : idOfLine(lineNumber);
    const hasParent = typeof ownParent === "string" || (ownParent === null && id === ownId);
    const parentId = hasParent ? ownParent : (ids.at(-1) ?? null);
    lines.push(lineNumber);
    ids.push(id);
    const linked = { type, id, parentId, ...fields };
    if (type !== "compaction") return linked;
    // Version 1 named the first kept entry by its line, counted from 0. If that line is damaged, the next one is kept.
    const { firstKeptEntryIndex: index, ...compaction } = linked as RawEntry;
    if (typeof compaction.firstKeptEntryId === "string") return compaction;
    const firstKept = typeof index === "number" ? findFirstFrom(lines, index + 1) : lines.length;
    return { ...compaction, firstKeptEntryId: ids[firstKept] ?? id };
  };
}

/** The index of the first of the ascending `lines` that is not below `line`. */
function findFirstFrom(lines: readonly number[], line: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle]! < line) low = middle + 1;
    else high = middle;
  }
  return low;
}
