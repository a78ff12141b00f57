/** Finds sessions by id, and lists them, without opening them all. Closed sessions cost the name of their file. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SerialQueue, withoutUndefined } from "@tau/ai/internal";
import { SessionManager } from "@tau/harness";
import type { SearchOptions, SearchResult } from "@tau/harness/search";
import {
  compareSessions,
  filterSessions,
  idInFileName,
  isSessionFile,
  type MovedSession,
  reportUsage,
  restoreSession,
  type SessionInfo,
  type SessionManagerOptions,
  sessionsRoot,
} from "@tau/harness/session";
import type { UsageReportData } from "@tau/protocol";
import { unlessMissing } from "@tau/tools/platform";
import { type FileChange, SessionDirectory, type SessionFile } from "./session-directory.ts";
import type { SessionList, SessionPageOptions, UsageReportOptions } from "./session-list.ts";
import { cutPage, parseTime, type SessionPage } from "./session-page.ts";

interface SessionIndexOptions {
  agentDir: string;
  /** A directory of sessions besides those below `agentDir`; undefined if there is none. */
  getSessionDir: () => string | undefined;
}

/** Whether a file has the name that tau gives to new sessions. Others may have any id in their header. */
const hasTimestamp = (name: string): boolean => `${idInFileName(name)}.jsonl` !== name;

async function findByHeader(paths: readonly string[], sessionId: string): Promise<string | undefined> {
  for (const path of paths) if ((await SessionManager.describe(path))?.id === sessionId) return path;
  return undefined;
}

/** How many descriptions are kept for the next page. */
const maxDescribed = 512;

export class SessionIndex implements SessionList {
  readonly #options: SessionIndexOptions;
  readonly #directories = new Map<string, SessionDirectory>();
  /** Directories of sessions that were opened, which may be anywhere. */
  readonly #seen = new Set<string>();
  /** The last used first. */
  #sorted: SessionFile[] = [];
  readonly #described = new Map<string, { file: SessionFile; info: SessionInfo | undefined }>();
  readonly #refreshes = new SerialQueue();

  constructor(options: SessionIndexOptions) {
    this.#options = options;
  }

  async has(sessionId: string): Promise<boolean> {
    return (await this.find(sessionId)) !== undefined;
  }

  async open(sessionId: string, options: SessionManagerOptions): Promise<SessionManager | undefined> {
    const path = await this.find(sessionId);
    return path === undefined ? undefined : await SessionManager.open(path, options);
  }

  markChanged(path: string): void {
    const directory = dirname(path);
    this.#seen.add(directory);
    this.#directories.get(directory)?.markChanged(basename(path));
  }

  /** The file of a session, by the id in its name; else, where somebody has renamed it, by the id in its header. */
  async find(sessionId: string): Promise<string | undefined> {
    const renamed: string[] = [];
    for (const directory of await this.#listDirectories()) {
      const names = ((await orNone(readdir(directory))) ?? []).filter(isSessionFile);
      const name = names.find((each) => idInFileName(each) === sessionId);
      if (name !== undefined) return join(directory, name);
      renamed.push(...names.filter((each) => !hasTimestamp(each)).map((each) => join(directory, each)));
    }
    return this.#findDescribed(sessionId) ?? (await findByHeader(renamed, sessionId));
  }

  /** It may have been in any directory, which is known if it was listed before. */
  async restore(sessionId: string): Promise<MovedSession> {
    const { agentDir, getSessionDir } = this.#options;
    const path = this.#findDescribed(sessionId);
    const directory = path === undefined ? getSessionDir() : dirname(path);
    return await restoreSession(sessionId, { cwd: agentDir, agentDir, directory });
  }

  async list(options: SessionPageOptions): Promise<SessionPage> {
    const { query = "", named = false, children = true, sort = "modified", cursor, limit } = options;
    if (query.trim() !== "" || named || sort !== "modified") return await this.#search(options);
    await this.#refreshes.add(() => this.#refresh());
    const files = this.#sorted;
    let next = cursor === undefined ? 0 : findAfter(files, cursor);
    const sessions: SessionInfo[] = [];
    while (sessions.length < limit && next < files.length) {
      const batch = files.slice(next, next + limit - sessions.length);
      next += batch.length;
      const infos = await Promise.all(batch.map((file) => this.#describe(file)));
      sessions.push(
        ...filterSessions(
          infos.filter((info) => info !== undefined),
          { children },
        ),
      );
    }
    return { sessions, cursor: next < files.length ? toCursor(files[next - 1]!) : undefined };
  }

  async search(options: SearchOptions): Promise<SearchResult> {
    const { searchSessions } = await import("@tau/harness/search");
    return await searchSessions(await this.#listDirectories(), options);
  }

  async reportUsage(options: UsageReportOptions): Promise<UsageReportData> {
    const { agentDir, getSessionDir } = this.#options;
    return await reportUsage({ agentDir, ...withoutUndefined({ sessionDir: getSessionDir() }), ...options });
  }

  close(): void {
    for (const directory of this.#directories.values()) directory.close();
    this.#directories.clear();
  }

  #findDescribed(sessionId: string): string | undefined {
    for (const [path, { info }] of this.#described) if (info?.id === sessionId) return path;
    return undefined;
  }

  /** Costs more with more sessions: all of them have to be described. */
  async #search(options: SessionPageOptions): Promise<SessionPage> {
    const all: SessionInfo[] = [];
    for (const directory of await this.#listDirectories()) {
      // Without permission, as if it were not there.
      const sessions = await SessionManager.list(directory, directory).catch(() => []);
      for (const session of sessions) all.push(session);
    }
    return cutPage(filterSessions(all.sort(compareSessions.modified), options), options);
  }

  async #refresh(): Promise<void> {
    const paths = await this.#listDirectories();
    // A directory that is new, or gone, changes the whole list.
    let changes: FileChange[] | undefined = [];
    for (const [path, directory] of this.#directories) {
      if (paths.includes(path)) continue;
      directory.close();
      this.#directories.delete(path);
      changes = undefined;
    }
    for (const path of paths) {
      const directory = this.#directories.get(path) ?? new SessionDirectory(path);
      this.#directories.set(path, directory);
      const own = await directory.refresh();
      changes = own && changes?.concat(own);
    }
    this.#sorted = changes
      ? applyChanges(this.#sorted, changes)
      : [...this.#directories.values()].flatMap(({ files }) => [...files]).sort(compare);
  }

  async #listDirectories(): Promise<string[]> {
    const root = sessionsRoot(this.#options.agentDir);
    const entries = (await unlessMissing(readdir(root, { withFileTypes: true }))) ?? [];
    const below = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name));
    const own = this.#options.getSessionDir();
    return [...new Set([...below, ...this.#seen, ...(own === undefined ? [] : [own])])];
  }

  async #describe(file: SessionFile): Promise<SessionInfo | undefined> {
    const path = join(file.directory, file.name);
    const known = this.#described.get(path);
    this.#described.delete(path);
    const described = known && isSame(known.file, file) ? known : { file, info: await SessionManager.describe(path) };
    this.#described.set(path, described);
    if (this.#described.size > maxDescribed) this.#described.delete(this.#described.keys().next().value!);
    return described.info;
  }
}

/** The times of a file are rough: two appends can follow each other within one of their steps. */
const isSame = (a: SessionFile, b: SessionFile): boolean => a.modifiedMs === b.modifiedMs && a.size === b.size;

type ListPosition = Pick<SessionFile, "modifiedMs" | "name">;

const compare = (a: ListPosition, b: ListPosition): number => b.modifiedMs - a.modifiedMs || (a.name < b.name ? -1 : 1);

/** The sorted list with a few changes. Pure. */
function applyChanges(files: SessionFile[], changes: readonly FileChange[]): SessionFile[] {
  if (changes.length === 0) return files;
  const removed = new Set(changes.map(({ before }) => before));
  const kept = files.filter((file) => !removed.has(file));
  for (const { after } of changes) if (after) kept.splice(findPosition(kept, after), 0, after);
  return kept;
}

/** Where a file belongs in a sorted list. */
function findPosition(files: readonly ListPosition[], file: ListPosition): number {
  let [low, high] = [0, files.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(files[middle]!, file) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A place in the order, which stays the same when the session at it is used again. */
const toCursor = ({ modifiedMs, name }: ListPosition): string => `${modifiedMs}/${name}`;

function findAfter(files: readonly ListPosition[], cursor: string): number {
  const [modified, name = ""] = cursor.split(/\/(.*)/s);
  const index = findPosition(files, { modifiedMs: parseTime(modified, cursor), name });
  return files[index]?.name === name ? index + 1 : index;
}

/** Without permission, as if it were not there. */
const orNone = (names: Promise<string[]>): Promise<string[] | undefined> => names.catch(() => undefined);
