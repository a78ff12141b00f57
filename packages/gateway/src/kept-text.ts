/** Small texts of the gateway that are read and replaced whole: files of its directory, or logs of its storage. */
import { join } from "node:path";
import type { Clock, Ids } from "@tau/ai";
import type { LogKey, Storage } from "@tau/harness/session";
import { readOwnFile } from "@tau/protocol/node";
import { writeWhole } from "@tau/tools/durable";
import { nodeFileSystem } from "@tau/tools/platform";
import { readLog, withLog } from "@tau/tools/storage";

export interface KeptText {
  /** Undefined if there is none. */
  read(): Promise<string | undefined>;
  /** Resolves when it is durable. */
  write(text: string): Promise<void>;
}

/**
 * `name` is a path below the gateway's directory, without its extension. With `syncs` false a power cut may lose what was written, but
 * not the end of the process.
 */
export type OpenText = (name: string, options?: { syncs?: boolean }) => KeptText;

/** `directory` is that of the gateway. */
export const createTextFiles =
  (directory: string, ids: Ids): OpenText =>
  (name, { syncs = true } = {}) => {
    const path = join(directory, `${name}.json`);
    return {
      read: async () => readOwnFile(path),
      write: (text) => writeWhole(nodeFileSystem, { path, bytes: Buffer.from(text), ids, syncs }),
    };
  };

export const createStoredTexts =
  (storage: Storage, clock: Clock): OpenText =>
  (name) => {
    const key: LogKey = `gateway/${name.replaceAll("/", "-")}`;
    return {
      read: async () => (await readLog(storage, key))?.toString("utf8"),
      write: (text) => withLog({ storage, key, clock }, (store) => store.replace(Buffer.from(text))),
    };
  };
