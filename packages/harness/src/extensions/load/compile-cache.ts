/**
 * Compiled modules on disk, by the hash of their path and source, with V8's own form of them. A file that is damaged or of another
 * version is ignored, and one that cannot be written is compiled again the next time.
 */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemIds } from "@tau/ai";
import { nodeFileSystem, systemCode } from "@tau/tools/platform";
import { orUndefined, writeWhole } from "../../durable-file.ts";
import { type CompiledModule, compileModule, compilerVersion } from "./compile.ts";
import { createModuleFunction, type ModuleFunction } from "./module-function.ts";

export interface CompileCacheOptions {
  /** Undefined: nothing is kept. */
  cacheDirectory: string | undefined;
}

export interface RunnableModule extends Omit<CompiledModule, "code">, Omit<ModuleFunction, "cachedData"> {}

/** Rejects with a `CompileError`. A hit does not load the compiler. */
export async function compileCached(
  path: string,
  source: string,
  { cacheDirectory }: CompileCacheOptions,
): Promise<RunnableModule> {
  const file = cacheDirectory === undefined ? undefined : join(cacheDirectory, `${getKey(path, source)}.bin`);
  const cached = file === undefined ? undefined : readCached(file);
  if (cached) {
    const { code, requires, imports, isAsync, cachedData } = cached;
    return { requires, imports, ...createModuleFunction(path, code, { isAsync, cachedData }) };
  }
  const { code, requires, imports } = await compileModule(path, source);
  const { run, isAsync, cachedData } = createModuleFunction(path, code);
  if (file !== undefined && cachedData) {
    const bytes = serialise({ code, requires, imports, isAsync, cachedData });
    await orUndefined(writeWhole(nodeFileSystem, { path: file, bytes, ids: systemIds, syncs: false }));
    await removeOldest(dirname(file));
  }
  return { requires, imports, run, isAsync };
}

/** How many files are kept. Every change of an extension and every version of Node adds some. */
export const maxCachedFiles = 500;

/** Removes a tenth, so that it is not done for every file. */
async function removeOldest(directory: string): Promise<void> {
  const names = (await orUndefined(nodeFileSystem.readdir(directory))) ?? [];
  if (names.length <= maxCachedFiles) return;
  const files = await Promise.all(
    names.map(async ({ name }) => {
      const path = join(directory, name);
      return { path, modifiedMs: (await orUndefined(nodeFileSystem.stat(path)))?.mtimeMs ?? 0 };
    }),
  );
  const oldest = files.sort((first, second) => first.modifiedMs - second.modifiedMs).slice(0, maxCachedFiles / 10);
  await Promise.all(oldest.map(({ path }) => orUndefined(nodeFileSystem.unlink(path))));
}

/** V8's form is of one version of Node and one architecture, and errors name the path that it was made for. */
const getKey = (path: string, source: string): string =>
  digest([compilerVersion, process.version, process.arch, path, source].join("\n"));

const digest = (content: string | Buffer): string => hash("sha256", content, "hex");

interface CachedModule extends CompiledModule {
  readonly isAsync: boolean;
  readonly cachedData: Buffer;
}

/** The digest of all that follows, one line of facts, the code, and V8's form of it. */
function serialise({ code, cachedData, ...facts }: CachedModule): Buffer {
  const text = Buffer.from(code);
  const head = Buffer.from(`${JSON.stringify({ ...facts, codeBytes: text.length })}\n`);
  const rest = Buffer.concat([head, text, cachedData]);
  return Buffer.concat([Buffer.from(`${digest(rest)}\n`), rest]);
}

const digestLength = 64;

function readCached(file: string): CachedModule | undefined {
  const bytes = readIfThere(file);
  if (!bytes) return undefined;
  const rest = bytes.subarray(digestLength + 1);
  // V8 trusts its form: what is damaged must not reach it.
  if (bytes.toString("latin1", 0, digestLength) !== digest(rest)) return undefined;
  const start = rest.indexOf("\n") + 1;
  const { codeBytes, ...facts } = JSON.parse(rest.toString("utf8", 0, start)) as Omit<
    CachedModule,
    "code" | "cachedData"
  > & { codeBytes: number };
  const end = start + codeBytes;
  return { ...facts, code: rest.toString("utf8", start, end), cachedData: rest.subarray(end) };
}

/** Synchronous, because these are small local files and each await costs more than the read. */
function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
