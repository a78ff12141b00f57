/**
 * Compiled modules on disk, by the hash of their source. A file that is damaged or of another version is ignored, and one
 * that cannot be written is compiled again the next time.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { systemIds } from "@tau/ai";
import { nodeFileSystem, systemCode } from "@tau/tools/platform";
import { orUndefined, writeWhole } from "../../durable-file.ts";
import { type CompiledModule, compileModule, compilerVersion, isPlainCommonJs } from "./compile.ts";

export interface CompileCacheOptions {
  /** Undefined: nothing is kept. */
  cacheDirectory: string | undefined;
}

export async function compileCached(
  path: string,
  source: string,
  { cacheDirectory }: CompileCacheOptions,
): Promise<CompiledModule> {
  if (cacheDirectory === undefined || isPlainCommonJs(path, source)) return await compileModule(path, source);
  const file = join(cacheDirectory, `${hash(`${compilerVersion}\n${extname(path)}\n${source}`)}.txt`);
  const cached = readCached(file);
  if (cached) return cached;
  const compiled = await compileModule(path, source);
  const bytes = Buffer.from(serialise(compiled));
  await orUndefined(writeWhole(nodeFileSystem, { path: file, bytes, ids: systemIds, syncs: false }));
  return compiled;
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The digest of all that follows, one line about the code, then the code. */
function serialise({ code, requires, imports }: CompiledModule): string {
  const text = `${JSON.stringify({ requires, imports })}\n${code}`;
  return `${hash(text)}\n${text}`;
}

function readCached(file: string): CompiledModule | undefined {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  const start = text.indexOf("\n") + 1;
  const rest = text.slice(start);
  if (hash(rest) !== text.slice(0, Math.max(start - 1, 0))) return undefined;
  const end = rest.indexOf("\n");
  return { ...(JSON.parse(rest.slice(0, end)) as Omit<CompiledModule, "code">), code: rest.slice(end + 1) };
}

/** Synchronous, because these are small local files and each await costs more than the read. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
