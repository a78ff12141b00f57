/** Where the whole of a result is kept of which a request carries only a part. */
import { join } from "node:path";
import type { Ids } from "@tau/ai";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { writeWhole } from "../durable-file.ts";

export interface KeeperOptions {
  /** Where the files go; asked each time. Made if it is not there, for its owner alone (0700). */
  directory: () => Promise<string>;
  fileSystem?: FileSystem;
  /** Names the files. */
  ids: Ids;
}

/** Writes a text to a file of its own, which only its owner may read (0600), and says where it is. Rejects if it cannot. */
export function createKeeper({ directory, fileSystem = nodeFileSystem, ids }: KeeperOptions) {
  return async (text: string): Promise<string> => {
    const path = join(await directory(), `result-${ids()}.txt`);
    await writeWhole(fileSystem, { path, bytes: Buffer.from(text), ids });
    return path;
  };
}
