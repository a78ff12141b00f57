/** The lines of a session file, as values. */
import type { CompactionEntry, SessionEntry, SessionHeader } from "@tau/protocol";
import { createMigration, getVersion } from "@tau/harness/session";
import { isRecord, tryParseJson } from "@tau/ai/internal";

export type FileEntry = SessionHeader | SessionEntry;

export const CURRENT_SESSION_VERSION = 3;

export const isHeader = (entry: { type: string } | undefined): entry is SessionHeader =>
  entry?.type === "session" && typeof (entry as SessionHeader).id === "string";

/** Lines that are not JSON objects are left out. */
export const parseSessionEntries = (content: string): FileEntry[] =>
  content
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => tryParseJson(line))
    .filter((entry) => isRecord(entry)) as unknown as FileEntry[];

/** Brings entries of older versions to the current one, in place. */
export function migrateSessionEntries(entries: FileEntry[]): void {
  const header = entries.find((entry) => isHeader(entry));
  const version = getVersion((header ?? {}) as unknown as Record<string, unknown>);
  if (version >= CURRENT_SESSION_VERSION) return;
  const migrate = createMigration(version);
  for (const [index, entry] of entries.entries()) {
    if (isHeader(entry)) entry.version = CURRENT_SESSION_VERSION;
    else replaceFields(entry, migrate({ ...(entry as SessionEntry) } as never, index + 1));
  }
}

function replaceFields(entry: object, replacement: object): void {
  for (const key of Object.keys(entry)) if (!(key in replacement)) delete (entry as Record<string, unknown>)[key];
  Object.assign(entry, replacement);
}

export const getLatestCompactionEntry = (entries: readonly SessionEntry[]): CompactionEntry | null =>
  (entries.findLast(({ type }) => type === "compaction") as CompactionEntry | undefined) ?? null;
