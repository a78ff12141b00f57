/**
 * Compiled modules on disk, by the hash of their path and source, with V8's own form of them. A file that is damaged or of another
 * version is ignored, and one that cannot be written is compiled again the next time.
 */
import { hash } from "node:crypto";
import { dirname, join } from "node:path";
import { nodeFileSystem } from "@tau/tools/platform";
import { orUndefined } from "@tau/tools/durable";
import { type CachedFile, readCachedFile, writeCachedFile } from "./cached-file.ts";
import { type CompiledModule, compileModule, compilerVersion } from "./compile.ts";
import { createModuleFunction, type ModuleFunction } from "./module-function.ts";

interface CompileCacheOptions {
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
  const key = getKey(path, source);
  const file = cacheDirectory === undefined ? undefined : { path: join(cacheDirectory, `${key}.bin`), key };
  const cached = file && readCached(file);
  if (cached) {
    const { code, requires, imports, usedNames, isAsync, cachedData } = cached;
    return { requires, imports, usedNames, ...createModuleFunction(path, code, { isAsync, cachedData }) };
  }
  const { code, requires, imports, usedNames } = await compileModule(path, source);
  const { run, isAsync, cachedData } = createModuleFunction(path, code);
  if (file && cachedData) {
    await writeCachedFile(file, serialise({ code, requires, imports, usedNames, isAsync, cachedData }));
    await removeOldest(dirname(file.path));
  }
  return { requires, imports, usedNames, run, isAsync };
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
  hash("sha256", [compilerVersion, process.version, process.arch, path, source].join("\n"), "hex");

interface CachedModule extends CompiledModule {
  readonly isAsync: boolean;
  readonly cachedData: Buffer;
}

/** Writes a line of facts, the code, and V8's form of it. */
function serialise({ code, cachedData, ...facts }: CachedModule): Buffer {
  const text = Buffer.from(code);
  const head = Buffer.from(`${JSON.stringify({ ...facts, codeBytes: text.length })}\n`);
  return Buffer.concat([head, text, cachedData]);
}

/** V8 trusts its form, so only what this user has written reaches it. */
function readCached(file: CachedFile): CachedModule | undefined {
  const content = readCachedFile(file);
  if (!content) return undefined;
  const start = content.indexOf("\n") + 1;
  const { codeBytes, ...facts } = JSON.parse(content.toString("utf8", 0, start)) as Omit<
    CachedModule,
    "code" | "cachedData"
  > & { codeBytes: number };
  const end = start + codeBytes;
  return { ...facts, code: content.toString("utf8", start, end), cachedData: content.subarray(end) };
}
