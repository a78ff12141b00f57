/** Finds the sessions of other programs, without reading them. */
import { join } from "node:path";
import { orUndefined } from "@tau/tools/durable";
import { type FileSystem, lookAt, nodeFileSystem, systemCode } from "@tau/tools/platform";
import { idInFileName, isSessionId } from "../session/session-directory.ts";
import { convertClaudeCode } from "./claude-code.ts";
import { convertCodex } from "./codex.ts";
import type { Conversion, ForeignSession, ForeignTool } from "./conversion.ts";
import { convertOpencode } from "./opencode.ts";
import { openOpencodeDatabase, openOpencodeFiles, type OpencodeStore } from "./opencode-store.ts";
import { convertPi } from "./pi.ts";

/** The directory in which a program keeps its data; see `foreignTools`. */
export type ForeignRoots = Readonly<Partial<Record<ForeignTool, string>>>;

/** A file or directory that is not imported, and why: the rest of a sentence that begins with its path. */
export interface SkippedPath {
  tool: ForeignTool;
  path: string;
  reason: string;
}

export interface ForeignSessions {
  /** The last used last. */
  sessions: readonly ForeignSession[];
  skipped: readonly SkippedPath[];
  /** Nothing is read before the entries are asked for. */
  convert(session: ForeignSession, options?: { signal?: AbortSignal }): Conversion;
  close(): void;
}

/** Writes nothing, and does not reject where a directory cannot be read. */
export async function findForeignSessions(
  roots: ForeignRoots,
  fs: FileSystem = nodeFileSystem,
): Promise<ForeignSessions> {
  const found: ForeignSession[] = [];
  const skipped: SkippedPath[] = [];
  for (const tool of ["pi", "omp", "claude-code", "codex"] as const) {
    const root = roots[tool];
    if (root === undefined) continue;
    const { directories, depth, getId } = layouts[tool];
    const skip = (path: string, reason: string) => skipped.push({ tool, path, reason });
    for (const directory of directories) {
      for await (const { path, name } of walk(fs, join(root, directory), depth, skip)) {
        const id = getId(name);
        if (id === undefined) continue;
        const session = await describe(fs, { tool, id, path }, skip);
        if (session) found.push(session);
      }
    }
  }
  const stores = roots.opencode === undefined ? [] : await openOpencode(roots.opencode, fs, skipped);
  for (const store of stores) found.push(...store.sessions.filter(({ id }) => !found.some((other) => other.id === id)));
  return {
    sessions: found.toSorted((a, b) => a.modified - b.modified),
    skipped,
    convert: (session, options = {}) => convertSession(session, { roots, stores, ...options }),
    close: () => stores.forEach((store) => store.close()),
  };
}

interface Layout {
  directories: readonly string[];
  /** How many directories are between them and the files. */
  depth: number;
  /** The id of the session in a file of this name; undefined if it is no session. */
  getId: (name: string) => string | undefined;
}

const getJsonlId = (name: string) => (name.endsWith(".jsonl") ? checkId(idInFileName(name)) : undefined);
const checkId = (id: string | undefined) => (id !== undefined && isSessionId(id) ? id : undefined);

const layouts: Readonly<Record<Exclude<ForeignTool, "opencode">, Layout>> = {
  pi: { directories: ["sessions"], depth: 1, getId: getJsonlId },
  omp: { directories: ["sessions"], depth: 1, getId: getJsonlId },
  "claude-code": {
    directories: ["projects"],
    depth: 1,
    // `agent-…` are the conversations of sub-agents: what they found is in the sessions that started them.
    getId: (name) => checkId(/^(?!agent-)(.+)\.jsonl$/.exec(name)?.[1]),
  },
  codex: {
    directories: ["sessions", "archived_sessions"],
    depth: 3,
    getId: (name) => checkId(/^rollout-\d{4}-\d\d-\d\dT[\d-]+?-([0-9a-f]{8}-[0-9a-f-]+)\.jsonl$/.exec(name)?.[1]),
  },
};

interface FoundFile {
  path: string;
  name: string;
}

/** The files below a directory. Links are not followed: they could lead anywhere, and in a circle. */
async function* walk(
  fs: FileSystem,
  directory: string,
  depth: number,
  skip: (path: string, reason: string) => void,
): AsyncGenerator<FoundFile> {
  const entries = await fs.readdir(directory).catch((error: unknown) => {
    const code = systemCode(error);
    if (code === undefined) throw error;
    if (code !== "ENOENT") skip(directory, `cannot be read (${code})`);
    return [];
  });
  for (const { name, isDirectory, isSymbolicLink } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(directory, name);
    if (isSymbolicLink) skip(path, "is a link, which is not followed");
    else if (!isDirectory && name.endsWith(".zst")) skip(path, "is compressed. Open it once in codex");
    else if (!isDirectory) yield { path, name };
    else if (depth > 0) yield* walk(fs, path, depth - 1, skip);
  }
}

async function describe(
  fs: FileSystem,
  session: Pick<ForeignSession, "tool" | "id" | "path">,
  skip: (path: string, reason: string) => void,
): Promise<ForeignSession | undefined> {
  const stats = await orUndefined(lookAt(fs, session.path));
  if (!stats?.isFile()) {
    skip(session.path, stats ? "is not a regular file" : "cannot be read");
    return undefined;
  }
  const { size, mtimeMs } = stats;
  return { ...session, stamp: `${size}:${Math.trunc(mtimeMs)}`, modified: Math.trunc(mtimeMs), bytes: size };
}

async function openOpencode(root: string, fs: FileSystem, skipped: SkippedPath[]): Promise<OpencodeStore[]> {
  const stores: OpencodeStore[] = [];
  const database = join(root, "opencode.db");
  if ((await orUndefined(lookAt(fs, database)))?.isFile()) {
    const opened = openOpencodeDatabase(database);
    if (opened.kind === "store") stores.push(opened.store);
    else skipped.push({ tool: "opencode", path: database, reason: opened.message });
  }
  const storage = join(root, "storage");
  const skip = (path: string, reason: string) => skipped.push({ tool: "opencode", path, reason });
  const files = await orUndefined(openOpencodeFiles(storage, skip, fs));
  if (files) stores.push(files);
  else skipped.push({ tool: "opencode", path: storage, reason: "cannot be read" });
  return stores;
}

function convertSession(
  { tool, path, id }: ForeignSession,
  { roots, stores, signal }: { roots: ForeignRoots; stores: readonly OpencodeStore[]; signal?: AbortSignal },
): Conversion {
  const options = signal ? { signal } : {};
  switch (tool) {
    case "pi":
      return convertPi(path, options);
    case "omp":
      return convertPi(path, { ...options, blobsDir: join(roots.omp!, "blobs") });
    case "claude-code":
      return convertClaudeCode(path, options);
    case "codex":
      return convertCodex(path, options);
    case "opencode":
      return convertOpencode(() =>
        stores.find(({ sessions }) => sessions.some((session) => session.id === id && session.path === path))!.open(id),
      );
  }
}
