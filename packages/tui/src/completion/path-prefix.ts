/** Which part of the text before the cursor is a path, and how a path is written there. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

export interface PathPrefix {
  /** The path as it stands in the text. */
  text: string;
  /** Whether it begins with `@`. */
  isMention: boolean;
  isQuoted: boolean;
  /** Without `@` and the quote. */
  path: string;
}

const openQuote = /(?:^|[\s=])(@?"[^"]*)$/;
const pathBreak = /[\s"'=]/;

/** The quote that is open at the end of the text, or what follows the last blank, quote or equals sign. */
export function parsePathPrefix(before: string): PathPrefix {
  const isQuoteOpen = (before.split('"').length - 1) % 2 === 1;
  const quoted = isQuoteOpen ? openQuote.exec(before)?.[1] : undefined;
  const text = quoted ?? (before.split(pathBreak).at(-1) as string);
  const isMention = text.startsWith("@");
  return { text, isMention, isQuoted: quoted !== undefined, path: text.replace(/^@?"?/, "") };
}

/** Whether a path is meant though nobody asked for one. */
export const looksLikePath = ({ path, isQuoted }: PathPrefix, before: string): boolean =>
  isQuoted || path.includes("/") || path.startsWith(".") || /\s$/.test(before);

/** The folder and the name that it shall begin with. `~` alone is the content of the home directory. */
export function splitPath(path: string): { folder: string; name: string } {
  const whole = path === "~" ? "~/" : path;
  const slash = whole.lastIndexOf("/") + 1;
  return { folder: whole.slice(0, slash), name: whole.slice(slash) };
}

export function resolveFolder(folder: string, basePath: string): string {
  if (folder.startsWith("~/")) return join(homedir(), folder.slice(2));
  return isAbsolute(folder) ? folder : join(basePath, folder);
}

/** A path with blanks is quoted. */
export const formatPath = (path: string, { isMention, isQuoted }: PathPrefix): string =>
  (isMention ? "@" : "") + (isQuoted || path.includes(" ") ? `"${path}"` : path);
