/** The file that is being mentioned before the cursor, and how a path is written there. Pure. */
import { isAbsolute, resolve } from "node:path";
import { mentionStart } from "@tau/protocol";

export interface OpenMention {
  /** The text before it, which is another one for another mention. */
  before: string;
  /** Where the path begins, after the `@`. */
  from: number;
  /** Without the quote. */
  path: string;
  isQuoted: boolean;
}

/** Says where the path of a mention is looked for. */
export type MentionTarget =
  /** Anything below the working directory whose path fits. `prefix` is what was typed before the query. */
  | { kind: "tree"; prefix: string; query: string }
  /** The content of one directory. */
  | { kind: "directory"; prefix: string; directory: string; query: string };

const openMention = new RegExp(String.raw`${mentionStart}([^\s"]*|"[^"]*)$`, "u");

export function findOpenMention(before: string): OpenMention | undefined {
  const typed = openMention.exec(before)?.[1];
  if (typed === undefined || typed.includes("\0")) return undefined;
  const from = before.length - typed.length;
  const isQuoted = typed.startsWith('"');
  return { before: before.slice(0, from), from, path: isQuoted ? typed.slice(1) : typed, isQuoted };
}

const openQuote = /(?:^|[\s=])("[^"]*)$/;
/** Matches what follows the last blank, quote or equals sign. */
const lastWord = /[^\s"'=]*$/;

/** The word before the cursor, as a path. */
export function findOpenPath(before: string): OpenMention | undefined {
  const isQuoteOpen = before.split('"').length % 2 === 0;
  const quoted = isQuoteOpen ? openQuote.exec(before)?.[1] : undefined;
  const typed = quoted ?? lastWord.exec(before)![0];
  if (typed.includes("\0")) return undefined;
  const from = before.length - typed.length;
  const isQuoted = quoted !== undefined;
  return { before: before.slice(0, from), from, path: isQuoted ? typed.slice(1) : typed, isQuoted };
}

/** Paths that leave the working directory are completed in one directory at a time: what is outside may be huge. */
export function parseMention(path: string, { cwd, home }: { cwd: string; home: string }): MentionTarget {
  const typed = path === "~" || path === ".." ? `${path}/` : path;
  if (typed.startsWith("~/") || typed.startsWith("../") || isAbsolute(typed)) {
    return toDirectoryTarget(typed, { cwd, home });
  }
  const prefix = /^(?:\.\/+)*/.exec(typed)![0];
  return { kind: "tree", prefix, query: typed.slice(prefix.length) };
}

/** Parses a path that is completed in its directory alone. */
export function toDirectoryTarget(
  path: string,
  { cwd, home }: { cwd: string; home: string },
): MentionTarget & { kind: "directory" } {
  const prefix = path.slice(0, path.lastIndexOf("/") + 1);
  const directory = prefix.startsWith("~/") ? resolve(home, prefix.slice(2)) : resolve(cwd, prefix);
  return { kind: "directory", prefix, directory, query: path.slice(prefix.length) };
}

/** Writes a path so that a prompt reads it as one mention. Undefined for a path that cannot be written. */
export function formatMention(path: string, isQuoted: boolean): string | undefined {
  if (!isQuoted && !/[\s\\"]|^['`]/.test(path)) return path;
  if (!path.includes('"')) return `"${path}"`;
  return path.includes("'") ? undefined : `'${path}'`;
}
