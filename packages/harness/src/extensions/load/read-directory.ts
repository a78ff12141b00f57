/**
 * Reads directories of extensions. Synchronous, because a start with no extensions should cost two calls of the system and
 * no module of Node that is not loaded already. What the system refuses is as if it were not there.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";

export const listNames = (directory: string): string[] => orUndefined(() => readdirSync(directory)) ?? [];

/** Links are followed. */
export function getKind(path: string): "file" | "directory" | undefined {
  const stats = orUndefined(() => statSync(path));
  if (stats?.isDirectory()) return "directory";
  return stats?.isFile() ? "file" : undefined;
}

/** Undefined where the directory has no `package.json`, an error where it is not valid. */
export function readManifest(directory: string): Record<string, unknown> | Error | undefined {
  const text = orUndefined(() => readFileSync(join(directory, "package.json"), "utf8"));
  if (text === undefined) return undefined;
  try {
    const manifest: unknown = JSON.parse(text);
    return isRecord(manifest) ? manifest : new Error("it is not an object.");
  } catch (error) {
    return new Error(getErrorMessage(error), { cause: error });
  }
}

function orUndefined<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
