import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { writeTextFile } from "../durable-file.ts";
import { systemCode } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import type { SessionHeader } from "../session/entry.ts";
import type { SessionLookup } from "../session/find-session.ts";
import { isSession, recover } from "../session/recover.ts";
import { isSessionId, sessionDirectory, sessionFileName } from "../session/session-directory.ts";
import { SessionManager } from "../session/session-manager.ts";
import { type ImportedSession, type ImportProblem, importSession } from "./import.ts";
import { exportJsonl } from "./jsonl.ts";

export interface ImportedFile {
  id: string;
  /** The new file. */
  path: string;
  entryCount: number;
  problems: ImportProblem[];
}

/** Copies a file to a new session of a directory. Throws `invalid_input` for a file that is not a session. */
export async function importSessionFile(source: string, lookup: SessionLookup): Promise<ImportedFile> {
  const text = await readText(source);
  if (!isSession(recover(Buffer.from(text)))) {
    throw new HarnessError("invalid_input", `${source} is not a session file (no header, no messages).`);
  }
  const imported = importSession(text);
  const { entries, problems } = imported;
  const header = await createHeader(imported, lookup);
  const directory = lookup.directory ?? sessionDirectory(lookup.cwd, lookup.agentDir);
  const path = join(directory, sessionFileName(header.timestamp, header.id));
  await writeTextFile(path, exportJsonl({ header, entries, leafId: null }));
  return { id: header.id, path, entryCount: entries.length, problems };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = systemCode(error);
    const message =
      code === "ENOENT"
        ? `There is no file ${path}.`
        : code === "EISDIR"
          ? `${path} is a directory. Name a session file in it.`
          : `${path} cannot be read: ${getErrorMessage(error)}.`;
    throw new HarnessError("invalid_input", message, { cause: error });
  }
}

/** Keeps the id if it is not used here, and the time. The directory becomes this one. */
async function createHeader(
  { header }: ImportedSession,
  { cwd, agentDir, directory }: SessionLookup,
): Promise<SessionHeader> {
  const started = Date.parse(header?.timestamp ?? "");
  const timestamp = new Date(Number.isNaN(started) ? systemClock.now() : started).toISOString();
  const id = typeof header?.id === "string" && isSessionId(header.id) ? header.id : undefined;
  const isFree = id !== undefined && !(await SessionManager.findById(cwd, id, directory, { agentDir }));
  return { ...header, type: "session", id: isFree ? id : systemIds(), timestamp, cwd: resolve(cwd) };
}
