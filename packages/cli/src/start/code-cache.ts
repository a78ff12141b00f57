/**
 * Runs the program's files through V8's code cache, so that functions that earlier runs compiled are not compiled again.
 * V8 accepts only data that the same V8 made with the same options, so the cache is not shipped: each run that compiled
 * more than the cache holds writes a new one when it ends. Why: docs/decisions/performance.md.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

/** Numbers of the chunks that a program file has loaded. The build makes the file record them. */
type Chunks = ReadonlySet<string>;

interface Cache {
  /** The chunks that were loaded by the runs that made the cache. */
  chunks: Chunks;
  data: Buffer;
}

interface LoadedFile {
  script: Script;
  cacheFile: string;
  /** The chunks of the cache that V8 accepted; undefined if there was none. */
  cachedChunks: Chunks | undefined;
}

/** Set by the files, and by the runner for the files. */
interface Globals {
  tauFile?: (...args: unknown[]) => void;
  tauLoadedChunks?: Set<string>;
}

const globals = globalThis as Globals;

interface BuildInfo {
  version: string;
  /** A hash of the content of each file, by its name without `.cjs`. */
  hashes: Readonly<Record<string, string>>;
  /** The names of the commands. */
  commands: readonly string[];
}

/** Runs `program`, a path. When it requires other files of its directory, they are loaded in the same way. */
export function runProgram(program: string, { version, hashes, commands }: BuildInfo): void {
  const directory = getCacheDirectory(process.env);
  const cachePrefix = directory && join(directory, getCacheName(version, getSurface(process.argv, commands)));
  const chunks = new Set<string>();
  globals.tauLoadedChunks = chunks;
  const loadedFiles: LoadedFile[] = [];
  if (cachePrefix !== undefined) process.once("exit", () => loadedFiles.forEach((file) => updateCache(file, chunks)));
  const nodeRequire = createRequire(program);
  const load = (path: string): unknown => {
    if (cachePrefix === undefined) nodeRequire(path);
    else loadedFiles.push(runCached(path, `${cachePrefix}-${basename(path, ".cjs")}`, hashes));
    const module = { exports: {} };
    globals.tauFile?.(module.exports, require, module, path, dirname(path));
    return module.exports;
  };
  const modules = new Map<string, unknown>();
  const require = (id: string): unknown => {
    if (!modules.has(id)) modules.set(id, id.startsWith("./") ? load(join(dirname(program), id)) : nodeRequire(id));
    return modules.get(id);
  };
  load(program);
}

/** Runs a file, which defines `tauFile`. */
function runCached(path: string, cachePrefix: string, hashes: BuildInfo["hashes"]): LoadedFile {
  // V8 compares only the length of the source, so the name of the cache tells builds and edited files apart.
  const { size, mtimeMs } = statSync(path);
  const cacheFile = `${cachePrefix}-${hashes[basename(path, ".cjs")] ?? ""}-${size}-${Math.floor(mtimeMs)}`;
  const cache = readCache(cacheFile);
  // The build writes ASCII only, and V8 keeps Latin-1 in one byte a character.
  const source = readFileSync(path, "latin1");
  const script = new Script(source, { filename: path, ...(cache && { cachedData: cache.data }) });
  script.runInThisContext();
  return { script, cacheFile, cachedChunks: script.cachedDataRejected ? undefined : cache?.chunks };
}

/** Undefined if there is no directory of the user's own, or the user wants no cache. */
function getCacheDirectory(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env["TAU_CODE_CACHE"] === "0") return undefined;
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && join(env["HOME"], ".cache"));
  return base && isAbsolute(base) ? join(base, "tau", "code") : undefined;
}

/** Each surface has a cache of its own, so that a run does not read functions that only other surfaces call. */
function getSurface([, , ...args]: readonly string[], commands: readonly string[]): string {
  const [first = ""] = args;
  return commands.includes(first) ? first : args.includes("rpc") ? "rpc" : "session";
}

/** V8 rejects data that was made by another version or with other options. */
function getCacheName(version: string, surface: string): string {
  const options = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" ").trim();
  const optionsHash = options === "" ? "" : `-${crc32(options)}`;
  return `${version}-${process.version}-${process.versions.v8}-${process.arch}${optionsHash}-${surface}`;
}

/** A user who can write the cache decides what the program does, so only its owner may. */
function isPrivate(path: string): boolean {
  try {
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) return false;
    return process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o077) === 0);
  } catch {
    // It does not exist, or cannot be reached.
    return false;
  }
}

/** The checksum of the rest, and the length of V8's data: V8 copies data that does not begin at a multiple of eight. */
const headerBytes = 8;

/**
 * Reads a file with a header, V8's data and the numbers of the chunks. V8 crashes on damaged data, hence the checksum.
 * Undefined if the file does not exist, is not private or is damaged.
 */
function readCache(file: string): Cache | undefined {
  if (!isPrivate(dirname(file)) || !isPrivate(file)) return undefined;
  try {
    const content = readFileSync(file);
    if (content.readUInt32LE(0) !== crc32(content.subarray(4))) return undefined;
    const end = headerBytes + content.readUInt32LE(4);
    return { chunks: new Set(content.toString("latin1", end).split(",")), data: content.subarray(headerBytes, end) };
  } catch {
    // Without a cache the program starts later, but it starts.
    return undefined;
  }
}

/** Runs when the process exits: it must not fail, and must not leave a partly written cache. */
function updateCache({ script, cacheFile, cachedChunks }: LoadedFile, loadedChunks: Chunks): void {
  if (cachedChunks && [...loadedChunks].every((chunk) => cachedChunks.has(chunk))) return;
  if (!ensureDirectory(dirname(cacheFile))) return;
  const chunks = Buffer.from([...new Set([...(cachedChunks ?? []), ...loadedChunks])].join(","), "latin1");
  const temporary = `${cacheFile}.${process.pid}`;
  try {
    const data = script.createCachedData();
    const content = Buffer.concat([Buffer.alloc(headerBytes), data, chunks]);
    content.writeUInt32LE(data.length, 4);
    content.writeUInt32LE(crc32(content.subarray(4)), 0);
    writeFileSync(temporary, content, { flag: "wx", mode: 0o600 });
    renameSync(temporary, cacheFile);
    removeOldCaches(cacheFile);
  } catch {
    rmSync(temporary, { force: true });
  }
}

const maxOtherCaches = 64;

/** Keeps the newest others: another installed version may still use its own. */
function removeOldCaches(cacheFile: string): void {
  const directory = dirname(cacheFile);
  const others = readdirSync(directory).filter((name) => join(directory, name) !== cacheFile);
  if (others.length < maxOtherCaches) return;
  const byAge = others.map((name) => ({ name, time: lstatSync(join(directory, name)).mtimeMs }));
  byAge.sort((a, b) => b.time - a.time);
  for (const { name } of byAge.slice(maxOtherCaches)) rmSync(join(directory, name), { force: true });
}

/** `sudo` may leave HOME as it was: a directory that root makes there would lock its owner out. */
function belongsToOther(path: string): boolean {
  const { uid } = statSync(path);
  return process.getuid !== undefined && uid !== 0 && uid !== process.getuid();
}

/** Makes one level at a time: with `recursive`, Node never returns on some file systems. */
function ensureDirectory(directory: string): boolean {
  const parent = dirname(directory);
  for (const level of [dirname(parent), parent, directory]) {
    try {
      if (belongsToOther(dirname(level))) return false;
      mkdirSync(level, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return false;
    }
  }
  return isPrivate(directory);
}
