/**
 * Reads directories of extensions. Synchronous, because a start with no extensions should cost two calls of the system and
 * no module of Node that is not loaded already. What the system refuses is as if it were not there.
 */
import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";

type Kind = "file" | "directory" | undefined;

/** In the order of their names. Links are followed. */
export function listEntries(directory: string): { name: string; kind: Kind }[] {
  // Asked first, because making an error takes longer than the call.
  if (getKind(directory) !== "directory") return [];
  const entries = orUndefined(() => readdirSync(directory, { withFileTypes: true })) ?? [];
  return entries
    .map((entry) => ({
      name: entry.name,
      kind: entry.isSymbolicLink() ? getKind(join(directory, entry.name)) : toKind(entry),
    }))
    .sort((first, second) => (first.name < second.name ? -1 : 1));
}

/** Links are followed. */
export function getKind(path: string): Kind {
  const stats = orUndefined(() => statSync(path, { throwIfNoEntry: false }));
  return stats && toKind(stats);
}

function toKind(entry: Pick<Dirent, "isFile" | "isDirectory">): Kind {
  if (entry.isDirectory()) return "directory";
  return entry.isFile() ? "file" : undefined;
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
