/** Keeps the whole of results of which the model saw a part in files. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createResultSaver } from "../request/save-result.ts";
import type { Ids } from "@tau/ai";
import type { Closers } from "@tau/ai/internal";
import type { Tenant } from "./tenant.ts";
import type { SessionManager } from "../session/session-manager.ts";

/** Named like everything that belongs to the session, so that it goes when the session does. */
export const getResultsDirectory = (sessionFile: string): string => `${sessionFile}.results`;

interface ResultsParts {
  sessionManager: SessionManager;
  ids: Ids;
  tenant: Tenant | undefined;
  closers: Closers;
}

/**
 * Creates the function that saves a result: beside the session's file, because the log says where it is;
 * for a session in memory among the temporary files, and as long as that. A tenant has a directory for them.
 */
export function openResults({ sessionManager, ids, tenant, closers }: ResultsParts) {
  const sessionFile = sessionManager.getSessionFile();
  if (sessionFile !== undefined)
    return createResultSaver({ directory: async () => getResultsDirectory(sessionFile), ids });
  if (tenant) return createResultSaver({ directory: async () => tenant.outputs, ids });
  let made: Promise<string> | undefined;
  closers.add(async () => {
    if (made) await rm(await made, { recursive: true, force: true });
  });
  return createResultSaver({ directory: () => (made ??= mkdtemp(join(tmpdir(), "tau-results-"))), ids });
}
