import { constants } from "node:buffer";
import { readFile } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { writeTextFile } from "@tau/tools/durable";
import type { Files } from "@tau/tools";
import { systemCode, ToolsError } from "@tau/tools/platform";
import type { Storage } from "@tau/tools/storage";
import { HarnessError } from "@tau/protocol";
import type { SessionHeader } from "../session/entry.ts";
import type { SessionLookup } from "../session/find-session.ts";
import { isSession, recover } from "../session/recover.ts";
import { createWhole, isStored } from "../session/stored-session.ts";
import { isSessionId, sessionDirectory, sessionFileName } from "../session/session-directory.ts";
import { SessionManager } from "../session/session-manager.ts";
import { type ImportedSession, type ImportProblem, importSession } from "./import.ts";
import { exportJsonl } from "./jsonl.ts";

export interface ImportedFile {
  id: string;
  /** The new file. */
  path: string;
  /** The directory that the session works in. */
  cwd: string;
  entryCount: number;
  problems: ImportProblem[];
}

/** The system has no longer texts. */
const maxBytes = constants.MAX_STRING_LENGTH;

/** Opens the file that is imported, and may refuse it (`denied`). Default: every file of the user. */
type ImportFiles = Pick<Files, "readWhole"> | undefined;

interface ImportOptions {
  /** Whether the session stays one of the directory that the file names, if it names one. Default: it becomes one of this one. */
  keepsDirectory?: boolean;
}

/** Copies a file to a new session of a directory. Throws `invalid_input` for a file that is not a session. */
export async function importSessionFile(
  source: string,
  lookup: SessionLookup,
  files?: ImportFiles,
  { keepsDirectory = false }: ImportOptions = {},
): Promise<ImportedFile> {
  const { agentDir } = lookup;
  const imported = await readImport(source, files);
  const own = imported.header?.cwd;
  const cwd = keepsDirectory && typeof own === "string" && isAbsolute(own) ? own : lookup.cwd;
  const { entries, problems } = imported;
  const isUsed = async (id: string) => !!(await SessionManager.findById(cwd, id, lookup.directory, { agentDir }));
  const header = await createHeader(imported, cwd, isUsed);
  const directory = lookup.directory ?? sessionDirectory(cwd, agentDir);
  const path = join(directory, sessionFileName(header.timestamp, header.id));
  await writeTextFile(path, exportJsonl({ header, entries, leafId: null }));
  return { id: header.id, path, cwd: header.cwd, entryCount: entries.length, problems };
}

/** Copies a file to a new session of a storage. Throws `invalid_input` for a file that is not a session. */
export async function importIntoStorage(
  source: string,
  { cwd, storage }: { cwd: string; storage: Storage },
  files?: ImportFiles,
): Promise<Omit<ImportedFile, "path" | "cwd">> {
  const imported = await readImport(source, files);
  const { entries, problems } = imported;
  const header = await createHeader(imported, cwd, (id) => isStored(storage, id));
  const text = exportJsonl({ header, entries, leafId: null });
  const store = await createWhole(storage, header, Buffer.from(text));
  await store.close();
  return { id: header.id, entryCount: entries.length, problems };
}

async function readImport(source: string, files: ImportFiles): Promise<ImportedSession> {
  const text = files ? await readGuarded(source, files) : await readText(source);
  if (isSession(recover(Buffer.from(text)))) return importSession(text);
  throw new HarnessError("invalid_input", `${source} is not a session file (no header, no messages).`);
}

async function readGuarded(path: string, files: Pick<Files, "readWhole">): Promise<string> {
  try {
    return (await files.readWhole(path, maxBytes)).bytes.toString("utf8");
  } catch (error) {
    if (!(error instanceof ToolsError)) throw error;
    throw new HarnessError(error.code === "denied" ? "denied" : "invalid_input", error.message, { cause: error });
  }
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
  cwd: string,
  isUsed: (id: string) => Promise<boolean>,
): Promise<SessionHeader> {
  const started = Date.parse(header?.timestamp ?? "");
  const timestamp = new Date(Number.isNaN(started) ? systemClock.now() : started).toISOString();
  const id = typeof header?.id === "string" && isSessionId(header.id) ? header.id : undefined;
  const isFree = id !== undefined && !(await isUsed(id));
  return { ...header, type: "session", id: isFree ? id : systemIds(), timestamp, cwd: resolve(cwd) };
}
