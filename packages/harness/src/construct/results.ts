/** Keeps the whole of results of which the model saw a part, and finds them again. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ids } from "@tau/ai";
import type { Closers } from "@tau/ai/internal";
import { writeWhole } from "@tau/tools/durable";
import { lookAt, nodeFileSystem } from "@tau/tools/platform";
import { getBlobDirectory } from "@tau/tools/storage";
import { findResultPaths, replacePaths } from "../request/result-paths.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Tenant } from "./tenant.ts";

interface ResultsParts {
  sessionManager: SessionManager;
  ids: Ids;
  tenant: Tenant | undefined;
  closers: Closers;
}

interface Results {
  /** Keeps a text, or bytes with the extension of their kind, and returns the path of a file with them for the model. */
  save(content: string | Uint8Array, extension?: string): Promise<string>;
  /**
   * Replaces the paths of results in the arguments of a call by paths of files that exist: another process has kept them, and its
   * temporary files are gone.
   */
  restore(args: Record<string, unknown>): Promise<void>;
}

/**
 * Results are blobs of the log, so that they last as long as it does. Those of a session in a file are files beside it; for a
 * session in a storage, the model reads copies in temporary files. A session in memory has the temporary files alone.
 */
export function openResults({ sessionManager: log, ids, tenant, closers }: ResultsParts): Results {
  const sessionFile = log.getSessionFile();
  const isStored = sessionFile === undefined && log.customStorage !== undefined;
  let made: Promise<string> | undefined;
  closers.add(async () => {
    if (made) await rm(await made, { recursive: true, force: true });
  });
  const getDirectory = async () => tenant?.outputs ?? (await (made ??= mkdtemp(join(tmpdir(), "tau-results-"))));
  const writeCopy = async (name: string, bytes: Buffer): Promise<string> => {
    const path = join(await getDirectory(), name);
    await writeWhole(nodeFileSystem, { path, bytes, ids, syncs: false });
    return path;
  };
  /** Undefined if the file is there, or the session has no such result. */
  const restoreOne = async ({ path, name }: { path: string; name: string }): Promise<string | undefined> => {
    if (await lookAt(nodeFileSystem, path)) return undefined;
    const bytes = await log.readBlob(name);
    return bytes && (await writeCopy(name, bytes));
  };
  return {
    async save(content, extension = "txt") {
      const name = `result-${ids()}.${extension}`;
      const bytes = Buffer.from(content);
      if (isStored || sessionFile !== undefined) await log.writeBlob(name, bytes);
      return sessionFile === undefined ? await writeCopy(name, bytes) : join(getBlobDirectory(sessionFile), name);
    },
    async restore(args) {
      if (!isStored) return;
      const restored = new Map<string, string>();
      for (const found of findResultPaths(args)) {
        const path = await restoreOne(found);
        if (path !== undefined) restored.set(found.path, path);
      }
      replacePaths(args, restored);
    },
  };
}
