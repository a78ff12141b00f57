/** Which sessions of other programs were imported, and into which files. */
import type { Ids } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { describeRecordFile } from "@tau/policy/internal";
import type { ForeignSession } from "./conversion.ts";

export interface ImportRecord {
  /** The file of our session. */
  path: string;
  /** How large it was after the import: any other size means that it was used since. */
  size: number;
  /** The state of the source that was imported. */
  stamp: string;
}

/** By `toRecordKey`. */
type ImportRecords = Readonly<Record<string, ImportRecord>>;

export const toRecordKey = ({ tool, id }: Pick<ForeignSession, "tool" | "id">): string => `${tool}/${id}`;

const file = describeRecordFile("imports.json", "sessions", (value): ImportRecords => {
  const records: Record<string, ImportRecord> = {};
  for (const [key, record] of Object.entries(isRecord(value) ? value : {})) {
    if (!isRecord(record)) continue;
    const { path, size, stamp } = record;
    if (typeof path === "string" && typeof size === "number" && typeof stamp === "string") {
      records[key] = { path, size, stamp };
    }
  }
  return records;
});

export const readImportRecords = (agentDir: string): Promise<ImportRecords> => file.read({ agentDir, cwd: agentDir });

/** Separates the sessions that may have something new from those that have not changed since they were imported. */
export async function separateKnown(
  sessions: readonly ForeignSession[],
  agentDir: string,
): Promise<{ pending: ForeignSession[]; known: ForeignSession[] }> {
  const records = await readImportRecords(agentDir);
  const isKnown = (session: ForeignSession) => {
    const key = toRecordKey(session);
    return Object.hasOwn(records, key) && records[key]!.stamp === session.stamp;
  };
  return { pending: sessions.filter((session) => !isKnown(session)), known: sessions.filter(isKnown) };
}

export const addImportRecords = (agentDir: string, added: ImportRecords, ids: Ids): Promise<void> =>
  file.change({ agentDir, cwd: agentDir, ids }, (records) => ({ ...records, ...added }));
