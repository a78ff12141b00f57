/**
 * Runs the program's one file through V8's code cache: what was compiled in earlier runs is not compiled again. The
 * cache is the user's own and is made by the runs themselves, since its form depends on the V8 that reads it.
 */
import { closeSync, lstatSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import nodeModule, { createRequire } from "node:module";
import { dirname, isAbsolute, join } from "node:path";
import { Script } from "node:vm";

/** The modules that were loaded, by name. The build makes the program write them down. */
type Rooms = ReadonlySet<string>;

interface Cache {
  /** What was loaded in the runs that made it. A run that loads more makes the cache grow. */
  rooms: Rooms;
  data: Buffer;
}

/** What the program's file and this one share. */
interface Globals {
  tauProgram?: (...given: unknown[]) => void;
  tauRooms?: Set<string>;
}

export function runProgram(program: string, version: string): void {
  const directory = cacheDirectory(process.env);
  const require = createRequire(program);
  // Newer Nodes have a cache of their own, which does all of this.
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (directory: string) => unknown };
  if (enableCompileCache) {
    if (directory !== undefined && (isOurs(directory) || makeDirectory(directory))) enableCompileCache(directory);
    require(program);
    return begin(program, require);
  }
  const file = directory && join(directory, cacheName(version));
  const cached = file === undefined ? undefined : readCache(file);
  const script = compile(program, cached);
  const rooms = new Set<string>();
  (globalThis as Globals).tauRooms = rooms;
  const known = script.cachedDataRejected ? undefined : cached?.rooms;
  if (file !== undefined) process.once("exit", () => keep(file, { script, rooms, known }));
  script.runInThisContext();
  begin(program, require);
}

/** The file defines the program as a function; what it is given is what any CommonJS file is given. */
function begin(program: string, require: NodeJS.Require): void {
  const module = { exports: {} };
  (globalThis as Globals).tauProgram?.(module.exports, require, module, program, dirname(program));
}

/** Latin-1: the build writes ASCII only, and V8 keeps such a text in one byte a character. */
const compile = (program: string, cached: Cache | undefined): Script =>
  new Script(readFileSync(program, "latin1"), { filename: program, ...(cached && { cachedData: cached.data }) });

/** Undefined where there is no place that is the user's own, or they want none. */
export function cacheDirectory(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env["TAU_CODE_CACHE"] === "0") return undefined;
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && join(env["HOME"], ".cache"));
  return base && isAbsolute(base) ? join(base, "tau", "code") : undefined;
}

/** V8 takes back only what it made itself, with the same options. */
function cacheName(version: string): string {
  const options = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" ").trim();
  let hash = 0;
  for (let at = 0; at < options.length; at++) hash = (Math.imul(hash, 31) + options.charCodeAt(at)) >>> 0;
  return `${version}-${process.version}-${process.versions.v8}-${process.arch}${hash === 0 ? "" : `-${hash}`}`;
}

/** Whoever can write to the cache decides what the program does: only its owner may. */
function isOurs(path: string, mode = 0o077): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || found.isSymbolicLink()) return false;
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & mode) === 0);
}

/** First the length of the names, then the names, then what V8 made. Undefined when it is not there or not ours. */
export function readCache(file: string): Cache | undefined {
  if (!isOurs(dirname(file)) || !isOurs(file)) return undefined;
  try {
    const content = readFileSync(file);
    const start = 4 + content.readUInt32LE(0);
    return { rooms: new Set(content.toString("latin1", 4, start).split("\n")), data: content.subarray(start) };
  } catch {
    // Without it the program starts a little later.
    return undefined;
  }
}

interface Kept {
  script: Script;
  rooms: Rooms;
  /** Those of the cache that was used; undefined without one. */
  known: Rooms | undefined;
}

/** The process ends: nothing here may fail it, and a file that is half written is never seen. */
function keep(file: string, { script, rooms, known }: Kept): void {
  if (known && [...rooms].every((room) => known.has(room))) return;
  if (!isOurs(dirname(file)) && !makeDirectory(dirname(file))) return;
  const names = Buffer.from([...new Set([...(known ?? []), ...rooms])].join("\n"), "latin1");
  const length = Buffer.alloc(4);
  length.writeUInt32LE(names.length);
  const temporary = `${file}.${process.pid}`;
  try {
    const handle = openSync(temporary, "wx", 0o600);
    for (const part of [length, names, script.createCachedData()]) writeSync(handle, part);
    closeSync(handle);
    renameSync(temporary, file);
  } catch {
    rmSync(temporary, { force: true });
  }
}

function makeDirectory(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return isOurs(directory);
  } catch {
    return false;
  }
}
