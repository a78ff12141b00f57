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
export type ImportRecords = Readonly<Record<string, ImportRecord>>;

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

export const addImportRecords = (agentDir: string, added: ImportRecords, ids: Ids): Promise<void> =>
  file.change({ agentDir, cwd: agentDir, ids }, (records) => ({ ...records, ...added }));
