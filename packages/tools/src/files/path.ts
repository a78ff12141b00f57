/** What a model means by a path. */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { ToolsError } from "../errors.ts";
import type { Files } from "../platform/files.ts";

/**
 * The absolute path: relative to `cwd`, with `~` for the home directory, and without the `@` with which people mention
 * files and models repeat it.
 */
export function resolvePath(cwd: string, given: string): string {
  return absolute(cwd, given.startsWith("@") ? given.slice(1) : given);
}

function absolute(cwd: string, path: string): string {
  if (path === "" || path.includes("\0")) {
    throw new ToolsError("invalid_input", `${JSON.stringify(path)} cannot be a path.`);
  }
  if (/^file:\/\//i.test(path)) {
    throw new ToolsError("invalid_input", `${path.slice(0, 200)} is a URL. Give a path, without file:// before it.`);
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
  for (const spelling of allSpellings(cwd, given)) if (await isThere(files, spelling)) return spelling;
  return resolvePath(cwd, given);
}

/** The same, and the path that it really has. Refused where the guard does not allow reading. */
export async function resolveReal(
  files: Files,
  cwd: string,
  given: string,
): Promise<{ path: string; realPath: string }> {
  // Most paths can be spelled in one way only: then nothing has to be looked for.
  const isOnly = allSpellings(cwd, given).size === 1;
  const path = isOnly ? resolvePath(cwd, given) : await resolveExisting(files, cwd, given);
  return { path, realPath: await files.realPath(path) };
}

/** What may be meant, the likeliest first. */
function allSpellings(cwd: string, given: string): Set<string> {
  const mentioned = spellings(resolvePath(cwd, given));
  return given.startsWith("@") ? new Set([...spellings(absolute(cwd, given)), ...mentioned]) : mentioned;
}

/** Another spelling may lead to where nobody may look; the one that is meant is refused when it is used. */
async function isThere(files: Files, path: string): Promise<boolean> {
  try {
    return (await files.stat(path)) !== undefined;
  } catch (error) {
    if (error instanceof ToolsError && error.code === "denied") return false;
    throw error;
  }
}

/**
 * The path of something that may not exist yet. `@types/x.ts` is meant as it stands where there is an `@types`, and a
 * file whose name is there with its letters composed otherwise is the one that is meant.
 */
export async function resolveNew(files: Files, cwd: string, given: string): Promise<string> {
  const path = await literalOrMentioned(files, cwd, given);
  const composed = new Set([path, path.normalize("NFC"), path.normalize("NFD")]);
  if (composed.size === 1) return path;
  for (const spelling of composed) if (await isThere(files, spelling)) return spelling;
  return path;
}

async function literalOrMentioned(files: Files, cwd: string, given: string): Promise<string> {
  if (!given.startsWith("@")) return resolvePath(cwd, given);
  const isLiteral = await isThere(files, absolute(cwd, given.split("/", 1)[0]!));
  return isLiteral ? absolute(cwd, given) : resolvePath(cwd, given);
}

function spellings(path: string): Set<string> {
  const narrow = path.replace(/ (AM|PM)\b/gi, "\u202f$1");
  const curled = path.replaceAll("'", "\u2019");
  const both = narrow.replaceAll("'", "\u2019");
  const all = [path, narrow, curled, both];
  return new Set([...all, ...all.map((one) => one.normalize("NFD")), ...all.map((one) => one.normalize("NFC"))]);
}
