/** What a model means by a path. */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { ToolsError } from "../errors.ts";
import type { Files } from "../platform/files.ts";

/** The absolute path: relative to `cwd`, with `~` for the home directory. Pure but for the home directory. */
export function resolvePath(cwd: string, given: string): string {
  // Some models put the sign before a path with which people mention files.
  const path = given.startsWith("@") ? given.slice(1) : given;
  if (path === "" || path.includes("\0")) {
    throw new ToolsError("invalid_input", `${JSON.stringify(given)} cannot be a path.`);
  }
  if (path === "~") return homedir();
  if (path.startsWith("~/")) return join(homedir(), path.slice(2));
  return isAbsolute(path) ? resolve(path) : resolve(cwd, path);
}

/**
 * The path of something that exists, also where its name is spelled otherwise: macOS composes letters differently, puts
 * a narrow space before AM and PM, and curls quotes in the names of screenshots.
 */
export async function resolveExisting(files: Files, cwd: string, given: string): Promise<string> {
  const path = resolvePath(cwd, given);
  for (const spelling of spellings(path)) if (await files.stat(spelling)) return spelling;
  return path;
}

function spellings(path: string): Set<string> {
  const narrow = path.replace(/ (AM|PM)\b/gi, "\u202f$1");
  const curled = path.replaceAll("'", "\u2019");
  const both = narrow.replaceAll("'", "\u2019");
  const all = [path, narrow, curled, both];
  return new Set([...all, ...all.map((one) => one.normalize("NFD")), ...all.map((one) => one.normalize("NFC"))]);
}
