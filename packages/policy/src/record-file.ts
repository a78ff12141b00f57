/**
 * A JSON file in the user's directory, or a record of a storage, with what the user decided. It is read as a whole each time: it may
 * have changed.
 */
import { basename, join } from "node:path";
import { type Ids, systemClock } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem, systemCode } from "@tau/tools/platform";
import { formatReadFailure, namingFile, readWhole, writeWhole, withFileLease } from "@tau/tools/durable";
import { type LogKey, readLog, type Storage, withLog } from "@tau/tools/storage";
import { HarnessError } from "@tau/protocol";

export interface RecordFileOptions {
  agentDir: string;
  /** The project's directory. */
  cwd: string;
  fileSystem?: FileSystem;
  ids: Ids;
  /** Where the records are kept instead. Default: a file in `agentDir`. */
  storage?: Storage;
}

/** The file itself does not depend on the project. */
type FileOptions = Omit<RecordFileOptions, "cwd"> & Partial<Pick<RecordFileOptions, "cwd">>;

interface RecordFile<T> {
  /** Returns what `parse` makes of the records; of undefined if the file is missing or damaged. */
  read(options: Omit<FileOptions, "ids">): Promise<T>;
  /** Replaces the records. No other process changes them meanwhile. Throws `write_failed` for a damaged file, which it keeps. */
  change(options: FileOptions, work: (records: T) => T): Promise<void>;
}

/** The records are in the field `key` of the file. */
export function describeRecordFile<T>(name: string, key: string, parse: (records: unknown) => T): RecordFile<T> {
  const storageKey: LogKey = `record/${basename(name, ".json")}`;
  const load = async ({ agentDir, storage, fileSystem = nodeFileSystem }: Omit<FileOptions, "ids">) => {
    const path = join(agentDir, name);
    const bytes = storage
      ? await readLog(storage, storageKey)
      : await readWhole(fileSystem, path).catch((error: unknown) => {
          throw toReadError(path, error);
        });
    const value = bytes && tryParseJson(bytes.toString("utf8"));
    return {
      isDamaged: bytes !== undefined && !isRecord(value),
      records: parse(isRecord(value) ? value[key] : undefined),
    };
  };
  return {
    read: async (options) => (await load(options)).records,
    async change(options, work) {
      const { agentDir, fileSystem = nodeFileSystem, ids, storage } = options;
      const file = storage ? `${storage.name} ${storageKey}` : join(agentDir, name);
      const changeBytes = async () => {
        const { isDamaged, records } = await load(options);
        if (isDamaged) throw damaged(file);
        const content = { version: 1, [key]: work(records) };
        return Buffer.from(`${JSON.stringify(content, undefined, 2)}\n`);
      };
      if (storage) {
        const place = { storage, key: storageKey, clock: systemClock };
        return await withLog(place, async (store) => await store.replace(await changeBytes()));
      }
      const write = async (path: string) => await writeWhole(fileSystem, { path, bytes: await changeBytes(), ids });
      await namingFile(file, () => withFileLease(file, { fileSystem, ids, clock: systemClock }, write));
    },
  };
}

/** Keeps the code of the system. */
function toReadError(path: string, cause: unknown): unknown {
  const code = systemCode(cause);
  return code === undefined ? cause : Object.assign(new Error(formatReadFailure(path, code), { cause }), { code });
}

const damaged = (file: string) =>
  new HarnessError(
    "write_failed",
    `${file} is damaged: it does not hold a JSON object. It was not changed. Correct it, or move it away.`,
  );
