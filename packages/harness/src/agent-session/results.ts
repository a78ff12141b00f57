/** The files with the whole of a result of which the model saw a part. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createResultSaver } from "../request/save-result.ts";
import type { SessionSetup } from "./session-setup.ts";

/** Named like everything that belongs to the session, so that it goes when the session does. */
export const getResultsDirectory = (sessionFile: string): string => `${sessionFile}.results`;

/**
 * Saves the whole of a result of which the model saw a part: beside the session's file, because the log says where it is;
 * for a session in memory among the temporary files, and as long as that.
 */
export function openResults({ sessionManager, ids, closers }: SessionSetup) {
  const sessionFile = sessionManager.getSessionFile();
  if (sessionFile !== undefined)
    return createResultSaver({ directory: async () => getResultsDirectory(sessionFile), ids });
  let made: Promise<string> | undefined;
  closers.add(async () => {
    if (made) await rm(await made, { recursive: true, force: true });
  });
  return createResultSaver({ directory: () => (made ??= mkdtemp(join(tmpdir(), "tau-results-"))), ids });
}
