/** Where opencode keeps its sessions: a database since version 1.2, before that one JSON file for each message and part. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import { orUndefined, readWhole } from "@tau/tools/durable";
import { type FileSystem, nodeFileSystem, lookAt, tolerate } from "@tau/tools/platform";
import type { ForeignSession } from "./conversion.ts";
import { type ForeignRecord, getTime, parseRecord } from "./foreign-values.ts";
import type { OpencodeMessage, OpencodeSession } from "./opencode.ts";

export interface OpencodeStore {
  sessions: ForeignSession[];
  open(id: string): Promise<OpencodeSession>;
  close(): void;
}

/** The part of `node:sqlite` that is used. */
interface Database {
  prepare(sql: string): {
    all(...values: readonly unknown[]): unknown[];
    iterate(...values: readonly unknown[]): Iterable<unknown>;
  };
  close(): void;
}

interface SqliteModule {
  DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database;
}

type OpenedDatabase = { kind: "store"; store: OpencodeStore } | { kind: "refused"; message: string };

/** Undefined where Node has no SQLite: before version 22.13. */
function loadSqlite(): SqliteModule | undefined {
  try {
    return createRequire(import.meta.url)("node:sqlite") as SqliteModule;
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_UNKNOWN_BUILTIN_MODULE") return undefined;
    throw error;
  }
}

export function openOpencodeDatabase(path: string): OpenedDatabase {
  const sqlite = loadSqlite();
  if (!sqlite) {
    const message = `is a database, which Node can read from version 22.13 on (this is ${process.version}). Start tau with a newer Node`;
    return { kind: "refused", message };
  }
  let database: Database | undefined;
  try {
    database = new sqlite.DatabaseSync(path, { readOnly: true });
    return { kind: "store", store: createStore(database, path) };
  } catch (error) {
    database?.close();
    return { kind: "refused", message: `cannot be read: ${getErrorMessage(error)}` };
  }
}

interface SessionRow {
  id: string;
  parent_id: string | null;
  directory: string;
  title: string;
  revert: string | null;
  time_created: number;
  time_updated: number;
  bytes: number;
}

const sessionQuery = `SELECT id, parent_id, directory, title, revert, time_created, time_updated,
  (SELECT coalesce(sum(length(data)), 0) FROM part WHERE part.session_id = session.id) AS bytes
  FROM session WHERE parent_id IS NULL ORDER BY time_updated`;

function createStore(database: Database, path: string): OpencodeStore {
  const rows = new Map((database.prepare(sessionQuery).all() as SessionRow[]).map((row) => [row.id, row]));
  const sessions = [...rows.values()].map((row): ForeignSession => ({
    tool: "opencode",
    id: row.id,
    path,
    stamp: `${row.time_updated}:${row.bytes}`,
    modified: getTime(row.time_updated, 0),
    bytes: row.bytes,
  }));
  async function* readMessages(id: string): AsyncGenerator<OpencodeMessage> {
    const parts = database.prepare("SELECT id, data FROM part WHERE message_id = ? ORDER BY id");
    const messages = database.prepare("SELECT id, data FROM message WHERE session_id = ? ORDER BY id");
    for (const message of messages.iterate(id)) {
      const info = readRow(message);
      yield { info, parts: parts.all(info["id"]).map(readRow) };
    }
  }
  return {
    sessions,
    async open(id) {
      const row = rows.get(id)!;
      const info = {
        directory: row.directory,
        title: row.title,
        time: { created: row.time_created },
        revert: row.revert === null ? undefined : parseRecord(row.revert),
      };
      return { info, messages: readMessages(id) };
    },
    close: () => database.close(),
  };
}

/** The object in a row, with the id of the row. */
function readRow(row: unknown): ForeignRecord {
  const { id, data } = row as { id: string; data: unknown };
  return { ...(typeof data === "string" ? parseRecord(data) : undefined), id };
}

/** A part or message is one file, which has to be in memory as a whole. */
const maxFileBytes = 32 * 1024 * 1024;

/** The files of older versions, below `storage`. */
export async function openOpencodeFiles(
  root: string,
  skip: (path: string, reason: string) => void,
  fs: FileSystem = nodeFileSystem,
): Promise<OpencodeStore> {
  const sessions = new Map<string, { session: ForeignSession; info: ForeignRecord }>();
  for (const project of await listNames(fs, join(root, "session"))) {
    for (const name of await listJson(fs, join(root, "session", project))) {
      const path = join(root, "session", project, name);
      const info = await readJson(fs, path);
      const id = name.slice(0, -".json".length);
      if (!info) skip(path, "cannot be read, or is not JSON");
      // A session with a parent is the conversation of a sub-agent.
      if (!info || typeof info["parentID"] === "string") continue;
      const files = await orUndefined(lookAt(fs, join(root, "message", id)));
      const modified = getTime((info["time"] as { updated?: unknown } | undefined)?.updated, 0);
      const stamp = `${modified}:${files?.mtimeMs ?? 0}`;
      sessions.set(id, { info, session: { tool: "opencode", id, path, stamp, modified, bytes: 0 } });
    }
  }
  async function* readMessages(id: string): AsyncGenerator<OpencodeMessage> {
    const directory = join(root, "message", id);
    for (const name of await listJson(fs, directory)) {
      const messageId = name.slice(0, -".json".length);
      // One that cannot be read has no role, and is counted as unknown.
      const info = (await readJson(fs, join(directory, name))) ?? {};
      const partDirectory = join(root, "part", messageId);
      const parts: ForeignRecord[] = [];
      for (const part of await listJson(fs, partDirectory)) {
        const content = await readJson(fs, join(partDirectory, part));
        if (content) parts.push(content);
      }
      yield { info: { ...info, id: messageId }, parts };
    }
  }
  return {
    sessions: [...sessions.values()].map(({ session }) => session),
    open: async (id) => ({ info: sessions.get(id)!.info, messages: readMessages(id) }),
    close: () => {},
  };
}

/** Sorted: ids begin with their time. Nothing where there is no directory. */
async function listNames(fs: FileSystem, path: string): Promise<string[]> {
  const entries = (await tolerate(fs.readdir(path), "ENOENT")) ?? [];
  return entries.map(({ name }) => name).toSorted();
}

const listJson = async (fs: FileSystem, path: string): Promise<string[]> =>
  ((await orUndefined(listNames(fs, path))) ?? []).filter((name) => name.endsWith(".json"));

async function readJson(fs: FileSystem, path: string): Promise<ForeignRecord | undefined> {
  const bytes = await orUndefined(readWhole(fs, path, maxFileBytes));
  return bytes && parseRecord(bytes.toString("utf8"));
}
