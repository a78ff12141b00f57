/** Searches the text of all sessions in some directories. */
import type { Stats } from "node:fs";
import { join } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { type FileSystem, isWithin, lookAt, nodeFileSystem, systemCode } from "@tau/tools/platform";
import { listNames } from "@tau/tools/storage";
import { orUndefined } from "@tau/tools/durable";
import { nextTurn } from "../session/entry-table.ts";
import type { StoragePorts } from "../session/file-storage.ts";
import { describeSessionFile } from "../session/list-sessions.ts";
import { isSessionFile, sessionsRoot } from "../session/session-directory.ts";
import type { SessionInfo } from "../session/session-info.ts";
import { LogIndexes, getTime, parseEntry } from "./log-index.ts";
import { type Excerpt, getExcerpt, parseQuery, type SearchQuery } from "./query.ts";
import { createRawFilter, type RawFilter } from "./raw-filter.ts";
import { EntryReader } from "./read-now.ts";
import { getSearchText } from "./search-text.ts";
import type { IndexedEntry, Segment } from "./segment.ts";
import { sweepIndexes } from "./sweep-indexes.ts";

export interface SearchFilter {
  /** Only sessions that were started in this directory or below it. */
  cwd?: string;
  /** Only messages from this time on, in milliseconds. */
  sinceMs?: number;
  /** Only messages before this time. */
  untilMs?: number;
  /** Only sessions in which a model answered whose `provider/id` contains this. */
  model?: string;
  /** Only sessions that cost as much, in US dollars. */
  minCost?: number;
  /** Only sessions that cost no more. */
  maxCost?: number;
}

export interface SearchOptions extends SearchFilter {
  /** Words, and phrases in quotes, that all have to be in one message. */
  text: string;
  /** Default 20. */
  limit?: number;
  /** How many hits of one session are returned. Default 3. */
  maxPerSession?: number;
  /** Called before each session. */
  onProgress?: (searched: number, total: number) => void;
  signal?: AbortSignal;
}

export interface SearchHit {
  session: SessionInfo;
  /** The entry to open; undefined if a log of another program does not name it. */
  entryId: string | undefined;
  /** A role, the name of a tool, or the kind of the entry. */
  author: string;
  /** In milliseconds; 0 if it is not known. */
  timeMs: number;
  excerpt: Excerpt;
}

export interface SearchResult {
  /** Sessions that were used last come first, and of each its latest messages. */
  hits: SearchHit[];
  /** Whether there may be more: a limit was reached. */
  hasMore: boolean;
  /** The files that could not be read. */
  unread: string[];
}

/** After so many logs, or names of files, other work gets its turn. */
const [logsPerTurn, namesPerTurn] = [32, 512];

/** Throws `invalid_input` if there is nothing to search for. */
export async function searchSessions(
  directories: readonly string[],
  options: SearchOptions & Partial<StoragePorts>,
): Promise<SearchResult> {
  const { fileSystem = nodeFileSystem, clock = systemClock, ids = systemIds } = options;
  const ports = { fileSystem, clock, ids };
  const { limit = 20, maxPerSession = 3, signal, onProgress } = options;
  const query = parseQuery(options.text);
  const mayMatch = createRawFilter(query);
  const reader = new EntryReader(fileSystem);
  const logs = await findLogs(directories, ports);
  const indexes = new LogIndexes({ ...ports, signal });
  const result: SearchResult = { hits: [], hasMore: false, unread: [] };
  for (const [number, { path, stats }] of logs.entries()) {
    signal?.throwIfAborted();
    onProgress?.(number, logs.length);
    if (number % logsPerTurn === logsPerTurn - 1) await nextTurn();
    if (result.hits.length >= limit) return { ...result, hasMore: true };
    // One that cannot be read must not hide the others.
    const segments = indexes.readNow(path, stats) ?? (await orUndefined(indexes.open(path, stats)));
    if (!segments) result.unread.push(path);
    else if (passes(segments, options)) {
      const places = findPlaces(segments, query, options);
      if (places.length === 0) continue;
      const wanted = Math.min(maxPerSession, limit - result.hits.length);
      const matches = await readMatches(places, { path, query, mayMatch, wanted: wanted + 1, options, reader });
      const session = matches.length > 0 ? await describeSessionFile(path, ports) : undefined;
      if (session) {
        result.hits.push(...matches.slice(0, wanted).map((match) => ({ session, ...match })));
        result.hasMore ||= matches.length > wanted;
      }
    }
  }
  return result;
}

/** The directories of all sessions: those below `agentDir`, and `sessionDir`. */
export async function listSessionDirectories(agentDir: string, sessionDir?: string): Promise<string[]> {
  const root = sessionsRoot(agentDir);
  const below = (await listNames(nodeFileSystem, root)).map((name) => join(root, name));
  return sessionDir === undefined ? below : [...below, sessionDir];
}

interface FoundLog {
  path: string;
  stats: Stats;
}

/** The logs in these directories, the last used first, as in a list of sessions. What was left of others is removed. */
async function findLogs(
  directories: readonly string[],
  { fileSystem: fs, clock }: Pick<StoragePorts, "fileSystem" | "clock">,
): Promise<FoundLog[]> {
  const logs: FoundLog[] = [];
  for (const directory of new Set(directories)) {
    // Files, and directories without permission, are skipped.
    const names = (await orUndefined(listNames(fs, directory))) ?? [];
    await sweepIndexes(fs, { directory, names, nowMs: clock.now() });
    for (const [number, name] of names.entries()) {
      if (number % namesPerTurn === namesPerTurn - 1) await nextTurn();
      if (!isSessionFile(name)) continue;
      const path = join(directory, name);
      const stats = fs.statNow ? statNow(fs, path) : await orUndefined(lookAt(fs, path));
      if (stats?.isFile()) logs.push({ path, stats });
    }
  }
  const getTime = ({ stats }: FoundLog) => Math.trunc(stats.mtimeMs);
  return logs.sort((a, b) => getTime(b) - getTime(a) || (a.path < b.path ? -1 : 1));
}

/** Like `lookAt`, without a promise for each of a thousand files. Undefined for a file that cannot be looked at. */
function statNow(fs: FileSystem, path: string): Stats | undefined {
  try {
    return fs.statNow?.(path);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function passes(segments: readonly Segment[], { cwd: directory, model, minCost, maxCost }: SearchFilter): boolean {
  const cwd = segments.find(({ head }) => head.cwd !== undefined)?.head.cwd ?? "";
  if (directory !== undefined && (cwd === "" || !isWithin(directory, cwd))) return false;
  const cost = segments.reduce((sum, { head }) => sum + head.cost, 0);
  if (minCost !== undefined && cost < minCost) return false;
  if (maxCost !== undefined && cost > maxCost) return false;
  const part = model?.toLowerCase();
  return part === undefined || segments.some(({ head }) => head.models.some((id) => id.toLowerCase().includes(part)));
}

type Match = Omit<SearchHit, "session">;

interface LogSearch {
  path: string;
  query: SearchQuery;
  mayMatch: RawFilter;
  wanted: number;
  options: SearchFilter;
  reader: EntryReader;
}

/** The entries that may match, the latest first. */
const findPlaces = (segments: readonly Segment[], query: SearchQuery, filter: SearchFilter): IndexedEntry[] =>
  segments.flatMap((segment) => (overlaps(segment, filter) ? segment.find(query) : [])).toReversed();

async function readMatches(places: readonly IndexedEntry[], search: LogSearch): Promise<Match[]> {
  const matches: Match[] = [];
  for await (const bytes of search.reader.read(search.path, places)) {
    const match = bytes && toMatch(bytes, search);
    if (match) matches.push(match);
    if (matches.length === search.wanted) break;
  }
  return matches;
}

const overlaps = ({ head }: Segment, { sinceMs = -Infinity, untilMs = Infinity }: SearchFilter): boolean =>
  head.lastMs >= sinceMs && head.firstMs < untilMs;

/** The match in the bytes of an entry. Undefined if there is none. */
function toMatch(bytes: Buffer, { query, mayMatch, options }: LogSearch): Match | undefined {
  const entry = mayMatch(bytes) ? parseEntry(bytes) : undefined;
  const found = entry && getSearchText(entry);
  if (!found) return undefined;
  const timeMs = getTime(entry);
  const { sinceMs, untilMs } = options;
  if ((sinceMs !== undefined && timeMs < sinceMs) || (untilMs !== undefined && timeMs >= untilMs)) return undefined;
  const excerpt = getExcerpt(found.text, query);
  return excerpt && { entryId: found.targetId ?? entry.id, author: found.author, timeMs, excerpt };
}
