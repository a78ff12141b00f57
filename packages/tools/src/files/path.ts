/** Which files a model may mean by a path. What a call asks for and what it opens are read from the same lists. */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { AccessRequest } from "../access.ts";
import { ToolsError } from "../errors.ts";
import type { Files } from "../platform/files.ts";

/**
 * The absolute path: relative to `cwd`, with `~` for the home directory, and without the `@` with which people mention
 * files and models repeat it.
 */
export const resolvePath = (cwd: string, typed: string): string => toAbsolute(cwd, withoutMention(typed));

const withoutMention = (typed: string) => (typed.startsWith("@") ? typed.slice(1) : typed);

function toAbsolute(cwd: string, path: string): string {
  const problem = getProblem(path);
  if (problem !== undefined) throw new ToolsError("invalid_input", problem);
  if (path === "~") return homedir();
  if (path.startsWith("~/")) return join(homedir(), path.slice(2));
  return isAbsolute(path) ? resolve(path) : resolve(cwd, path);
}

/** Why a text cannot be a path; undefined where it can. */
function getProblem(path: string): string | undefined {
  if (path === "" || path.includes("\0")) return `${JSON.stringify(path)} cannot be a path.`;
  if (!/^file:\/\//i.test(path)) return undefined;
  return `${path.slice(0, 200)} is a URL. Give a path, without file:// before it.`;
}

/** Lists the paths of which a call opens one, without duplicates. Throws for what cannot be a path. */
type ListPaths = (cwd: string, typed: string) => ReadonlySet<string>;

/**
 * The paths of something that should exist, the likeliest first. macOS composes letters differently, puts a narrow space
 * before AM and PM, and curls quotes in the names of screenshots.
 */
export const listExisting: ListPaths = (cwd, typed) => listSpelled(cwd, typed, spellings);

/** The paths of something that may not exist yet: its letters may be composed otherwise in the name of an existing file. */
export const listNew: ListPaths = (cwd, typed) => listSpelled(cwd, typed, compositions);

/**
 * The files of which a path with `#` may name a part, such as a member of an archive: what stands before one of the marks,
 * the longest first.
 */
function listWholes(typed: string): { whole: string; part: string }[] {
  const wholes: { whole: string; part: string }[] = [];
  for (let mark = typed.indexOf("#", 1); mark > 0 && wholes.length < maxMarks; mark = typed.indexOf("#", mark + 1))
    wholes.unshift({ whole: typed.slice(0, mark), part: typed.slice(mark + 1) });
  return wholes.filter(({ whole }) => getProblem(withoutMention(whole)) === undefined);
}

const maxMarks = 8;

/** The paths of which a call opens one that may name a part of a file, the likeliest first: a file of the whole name wins. */
export const listReadable: ListPaths = (cwd, typed) =>
  new Set([typed, ...listWholes(typed).map(({ whole }) => whole)].flatMap((path) => [...listExisting(cwd, path)]));

/** A name that begins with `@` comes first: it is a mention only where no such file exists. */
function listSpelled(cwd: string, typed: string, spell: (path: string) => string[]): Set<string> {
  const mentioned = spell(resolvePath(cwd, typed));
  return new Set(typed.startsWith("@") ? [...spell(toAbsolute(cwd, typed)), ...mentioned] : mentioned);
}

const compositions = (path: string) => [path, path.normalize("NFC"), path.normalize("NFD")];

function spellings(path: string): string[] {
  const narrow = path.replace(/ (AM|PM)\b/gi, "\u202f$1");
  const all = [path, narrow, path.replaceAll("'", "\u2019"), narrow.replaceAll("'", "\u2019")];
  return [
    ...all,
    ...all.map((spelling) => spelling.normalize("NFD")),
    ...all.map((spelling) => spelling.normalize("NFC")),
  ];
}

export interface PathAccess {
  capability: "read" | "write";
  /** Whose call it is. */
  toolName: string;
  list: ListPaths;
}

/**
 * Returns the access of a call that opens a path. A call whose path is missing, or cannot be a path, targets the tool's
 * name: the tool refuses such arguments itself.
 */
export function getPathAccess(access: PathAccess, cwd: string, typed: string | undefined): AccessRequest {
  const { capability, toolName: name, list } = access;
  if (typed === undefined || getProblem(withoutMention(typed)) !== undefined) {
    return { capability, target: { kind: "name", name } };
  }
  const path = resolvePath(cwd, typed);
  const alternatives = [...list(cwd, typed)].filter((other) => other !== path);
  return { capability, target: { kind: "path", path }, ...(alternatives.length > 0 && { alternatives }) };
}

/** The first path of the list that exists, else the one that was typed. */
export async function resolveExisting(files: Files, cwd: string, typed: string): Promise<string> {
  return (await findFirst(files, listExisting(cwd, typed))) ?? resolvePath(cwd, typed);
}

/** Like `resolveExisting`, or the file of which the path names a part. */
export async function resolveReadable(
  files: Files,
  cwd: string,
  typed: string,
): Promise<{ path: string; name: string; part: string | undefined }> {
  const existing = await findFirst(files, listExisting(cwd, typed));
  if (existing === undefined) {
    for (const { whole, part } of listWholes(typed)) {
      for (const path of listExisting(cwd, whole)) {
        // Throws where the file itself may not be read.
        if ((await files.stat(path))?.isFile()) return { path, name: whole, part };
      }
    }
  }
  return { path: existing ?? resolvePath(cwd, typed), name: typed, part: undefined };
}

/** Resolves a path, also to the path that it really has. Refused where the guard does not allow reading. */
export async function resolveReal(
  files: Files,
  cwd: string,
  typed: string,
): Promise<{ path: string; realPath: string }> {
  // Most paths can be spelled in one way only: then nothing has to be looked for.
  const isOnly = listExisting(cwd, typed).size === 1;
  const path = isOnly ? resolvePath(cwd, typed) : await resolveExisting(files, cwd, typed);
  return { path, realPath: await files.realPath(path) };
}

/**
 * The path of something that may not exist yet. `@types/x.ts` is meant as it stands where there is an `@types`, and a
 * file whose name is there with its letters composed otherwise is the one that is meant.
 */
export async function resolveNew(files: Files, cwd: string, typed: string): Promise<string> {
  const isLiteral = typed.startsWith("@") && (await exists(files, toAbsolute(cwd, typed.split("/", 1)[0]!)));
  const path = isLiteral ? toAbsolute(cwd, typed) : resolvePath(cwd, typed);
  const spelled = new Set(compositions(path));
  return (spelled.size > 1 ? await findFirst(files, spelled) : undefined) ?? path;
}

async function findFirst(files: Files, paths: Iterable<string>): Promise<string | undefined> {
  for (const path of paths) if (await exists(files, path)) return path;
  return undefined;
}

/** A path that may not be looked at counts as missing. If it is the one that was typed, using it is refused later. */
async function exists(files: Files, path: string): Promise<boolean> {
  try {
    return (await files.stat(path)) !== undefined;
  } catch (error) {
    if (error instanceof ToolsError && error.code === "denied") return false;
    throw error;
  }
}
