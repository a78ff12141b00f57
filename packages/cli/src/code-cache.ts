/**
 * Runs the program's files through V8's code cache: what was compiled in earlier runs is not compiled again. The cache
 * is the user's own and is made by the runs themselves, since its form depends on the V8 that reads it.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

/** The modules that were loaded, by their number in the file. The build makes the program write them down. */
type Rooms = ReadonlySet<string>;

interface Cache {
  /** What was loaded in the runs that made it. A run that loads more makes the cache grow. */
  rooms: Rooms;
  data: Buffer;
}

/** A file that runs, and what to keep of it. */
interface Loaded {
  script: Script;
  cacheFile: string;
  /** The rooms of the cache that was used; undefined without one. */
  known: Rooms | undefined;
}

/** What the files define, and what the program writes its rooms to. */
interface Globals {
  tauFile?: (...given: unknown[]) => void;
  tauRooms?: Set<string>;
}

const shared = globalThis as Globals;

/** What the build knows of its files. */
export interface BuildMarks {
  version: string;
  /** Of the content of each file, by its name without `.cjs`. */
  hashes: Readonly<Record<string, string>>;
  commands: readonly string[];
}

/** `program` may require other files of its directory: they are loaded in the same way. */
export function runProgram(program: string, { version, hashes, commands }: BuildMarks): void {
  const directory = cacheDirectory(process.env);
  const require = createRequire(program);
  const keeps =
    directory === undefined ? undefined : join(directory, cacheName(version, getSurface(process.argv, commands)));
  const rooms = new Set<string>();
  shared.tauRooms = rooms;
  const loaded: Loaded[] = [];
  if (keeps !== undefined) process.once("exit", () => loaded.forEach((one) => keep(one, rooms)));
  const load = (path: string): unknown => {
    if (keeps === undefined) require(path);
    else loaded.push(runCached(path, `${keeps}-${basename(path, ".cjs")}`, hashes));
    const module = { exports: {} };
    shared.tauFile?.(module.exports, requireFrom, module, path, dirname(path));
    return module.exports;
  };
  const parts = new Map<string, unknown>();
  const requireFrom = (id: string): unknown => {
    if (!id.startsWith("./")) return require(id);
    if (!parts.has(id)) parts.set(id, load(join(dirname(program), id)));
    return parts.get(id);
  };
  load(program);
}

/** Defines `tauFile`. Latin-1: the build writes ASCII only, and V8 keeps such a text in one byte a character. */
function runCached(path: string, prefix: string, hashes: BuildMarks["hashes"]): Loaded {
  // V8 itself compares little more than lengths: another build, or a file that was changed by hand, has another cache.
  const { size, mtimeMs } = statSync(path);
  const cacheFile = `${prefix}-${hashes[basename(path, ".cjs")] ?? ""}-${size}-${Math.floor(mtimeMs)}`;
  const cached = readCache(cacheFile);
  const script = new Script(readFileSync(path, "latin1"), {
    filename: path,
    ...(cached && { cachedData: cached.data }),
  });
  script.runInThisContext();
  return { script, cacheFile, known: script.cachedDataRejected ? undefined : cached?.rooms };
}

/** Undefined where there is no place that is the user's own, or they want none. */
function cacheDirectory(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env["TAU_CODE_CACHE"] === "0") return undefined;
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && join(env["HOME"], ".cache"));
  return base && isAbsolute(base) ? join(base, "tau", "code") : undefined;
}

/** Each has a cache of its own: what one of them never calls, it need not read. */
function getSurface([, , ...args]: readonly string[], commands: readonly string[]): string {
  const [first = ""] = args;
  return commands.includes(first) ? first : args.includes("rpc") ? "rpc" : "session";
}

/** V8 takes back only what it made itself, with the same options. */
function cacheName(version: string, surface: string): string {
  const options = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" ").trim();
  let hash = 0;
  for (let at = 0; at < options.length; at++) hash = (Math.imul(hash, 31) + options.charCodeAt(at)) >>> 0;
  const made = `${version}-${process.version}-${process.versions.v8}-${process.arch}`;
  return `${made}${hash === 0 ? "" : `-${hash}`}-${surface}`;
}

/** Whoever can write to the cache decides what the program does: only its owner may. */
function isOurs(path: string): boolean {
  try {
    const found = lstatSync(path);
    if (found.isSymbolicLink()) return false;
    return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o077) === 0);
  } catch {
    // Not there, or out of our reach.
    return false;
  }
}

/**
 * First a checksum of what follows, the length of the rooms, then the rooms, then what V8 made: V8 trusts it, and would
 * crash on one that is damaged. Undefined when it is not there, not ours or not whole.
 */
function readCache(file: string): Cache | undefined {
  if (!isOurs(dirname(file)) || !isOurs(file)) return undefined;
  try {
    const content = readFileSync(file);
    if (content.readUInt32LE(0) !== crc32(content.subarray(4))) return undefined;
    const end = 8 + content.readUInt32LE(4);
    return { rooms: new Set(content.toString("latin1", end).split(",")), data: content.subarray(8, end) };
  } catch {
    // Without it the program starts a little later.
    return undefined;
  }
}

/** The process ends: nothing here may fail it, and a file that is half written is never seen. */
function keep({ script, cacheFile, known }: Loaded, rooms: Rooms): void {
  if (known && [...rooms].every((room) => known.has(room))) return;
  if (!ensureDirectory(dirname(cacheFile))) return;
  const names = Buffer.from([...new Set([...(known ?? []), ...rooms])].join(","), "latin1");
  const temporary = `${cacheFile}.${process.pid}`;
  try {
    const head = Buffer.alloc(8);
    const data = script.createCachedData();
    const content = Buffer.concat([head, data, names]);
    content.writeUInt32LE(data.length, 4);
    content.writeUInt32LE(crc32(content.subarray(4)), 0);
    writeFileSync(temporary, content, { flag: "wx", mode: 0o600 });
    renameSync(temporary, cacheFile);
    forgetOthers(cacheFile);
  } catch {
    rmSync(temporary, { force: true });
  }
}

/** Caches of other builds of the same file are of no use any more, but may be in use: the latest few stay. */
function forgetOthers(cacheFile: string): void {
  const directory = dirname(cacheFile);
  const others = readdirSync(directory).filter((name) => join(directory, name) !== cacheFile);
  if (others.length < maxKept) return;
  const byAge = others.map((name) => ({ name, time: lstatSync(join(directory, name)).mtimeMs }));
  byAge.sort((one, other) => other.time - one.time);
  for (const { name } of byAge.slice(maxKept)) rmSync(join(directory, name), { force: true });
}

const maxKept = 32;

/** With somebody's home, as `sudo` may leave it, a directory of root's would shut them out of their own. */
function isAnothers(path: string): boolean {
  const { uid } = statSync(path);
  return process.getuid !== undefined && uid !== 0 && uid !== process.getuid();
}

/** One level at a time: asked for all at once, some file systems never give up. */
function ensureDirectory(directory: string): boolean {
  const parent = dirname(directory);
  for (const level of [dirname(parent), parent, directory]) {
    try {
      if (isAnothers(dirname(level))) return false;
      mkdirSync(level, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return false;
    }
  }
  return isOurs(directory);
}
