/** Which model the sessions of a directory used last. */
import { createFileStore, listNames } from "@tau/tools/storage";
import { join } from "node:path";
import { closeAfter } from "@tau/ai/internal";
import { type FileSystem, lookAt, nodeFileSystem } from "@tau/tools/platform";
import { orUndefined } from "@tau/tools/durable";
import { readChoices } from "./branch.ts";
import type { SessionChoices } from "./context.ts";
import { SessionLog } from "./log.ts";
import { isSessionFile } from "./session-directory.ts";

/** How many sessions are read at most: one that was never asked anything names no model. */
const maxRead = 5;

/** The model of the session that was written last, without `except`. Undefined if none is known. Writes nothing. */
export async function findLastModel(
  directory: string,
  { except, fileSystem: fs = nodeFileSystem }: { except: string | undefined; fileSystem?: FileSystem },
): Promise<SessionChoices["model"] | undefined> {
  const paths = (await listNames(fs, directory)).filter(isSessionFile).map((name) => join(directory, name));
  const files = await Promise.all(
    paths.filter((path) => path !== except).map(async (path) => ({ path, stats: await orUndefined(lookAt(fs, path)) })),
  );
  const latest = files.toSorted((a, b) => (b.stats?.mtimeMs ?? 0) - (a.stats?.mtimeMs ?? 0)).slice(0, maxRead);
  for (const { path } of latest) {
    // A file that cannot be read is none that could name a model.
    const model = await orUndefined(readLastModel(path, fs));
    if (model) return model;
  }
  return undefined;
}

async function readLastModel(path: string, fileSystem: FileSystem): Promise<SessionChoices["model"]> {
  const log = await SessionLog.open({ store: createFileStore({ path, fileSystem }), access: "read" });
  return await closeAfter(log, async () => (await readChoices(log, log.table.count - 1)).model);
}
