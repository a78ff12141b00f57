/** Saves a result that is too long for a request. */
import { join } from "node:path";
import type { Ids } from "@tau/ai";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { writeWhole } from "@tau/tools/durable";

interface ResultSaverOptions {
  /** The directory of the files; called each time. It is created if it does not exist, for its owner only (0700). */
  directory: () => Promise<string>;
  fileSystem?: FileSystem;
  /** Used in the names of the files. */
  ids: Ids;
}

/**
 * Returns a function that writes a text, or bytes with the extension of their kind, to a new file, which only its owner may read
 * (0600), and returns the path.
 */
export function createResultSaver({ directory, fileSystem = nodeFileSystem, ids }: ResultSaverOptions) {
  return async (content: string | Uint8Array, extension = "txt"): Promise<string> => {
    const path = join(await directory(), `result-${ids()}.${extension}`);
    await writeWhole(fileSystem, { path, bytes: Buffer.from(content), ids });
    return path;
  };
}
