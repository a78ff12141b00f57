/** Whether one path is below another: exactly, for what is allowed; and on any file system, for what is forbidden. Pure. */
import { sep } from "node:path";

/**
 * Whether `path` is `root` or below it. Both are real paths, compared letter by letter: what a guard allows must not grow
 * because two names look alike.
 */
export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/**
 * Whether `path` could be `root` or below it on some file system: one that ignores case, composes letters its own way,
 * drops invisible characters or dots and blanks at the end of names, has short names (`GIT~1`) or streams
 * (`.git::$INDEX_ALLOCATION`). What a guard forbids must hold for all spellings, so this says yes too often rather than
 * too seldom: never use it to allow something.
 */
export function mightBeWithin(root: string, path: string): boolean {
  const [above, names] = [foldNames(root), foldNames(path)];
  return above.length <= names.length && above.every((name, index) => mightBeNamed(name, names[index]!));
}

/** The names of a path, folded. Those that are nothing but dots and blanks vanish; they do not lead anywhere else. */
export const foldNames = (path: string): string[] =>
  path
    .split(/[/\\]/)
    .map(foldName)
    .filter((name) => name !== "");

/** Folds all spellings of one name, short names apart, to the same text. */
export function foldName(name: string): string {
  // Nearly all names, and nothing to fold in them but their case.
  if (/^[\w.-]*\w$/.test(name)) return name.toLowerCase();
  const plain = name
    // Git ignores the same ones, and ext4 with case folding a few more.
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/:.*$/s, "")
    .replace(/[. ]+$/, "");
  // There and back, since some letters (ẞ, ſ, ς) meet others only on one of the ways.
  return plain.normalize("NFKD").toLowerCase().toUpperCase().toLowerCase().normalize("NFKD");
}

function mightBeNamed(folded: string, other: string): boolean {
  return folded === other || isShortName(other, folded) || isShortName(folded, other);
}

/**
 * Whether Windows could have made `short` of `long`: up to six letters of it, or two and four digits of a hash, then `~`
 * and a number, then up to three letters of its ending.
 */
function isShortName(short: string, long: string): boolean {
  const match = /^([^~.]{1,6})~(\d{1,6})(?:\.([^.]{0,3}))?$/.exec(short);
  if (!match) return false;
  const [, start, number, ending = ""] = match;
  const name = long.replace(/^\.+/, "").replaceAll(" ", "");
  const dot = name.lastIndexOf(".");
  const stem = (dot < 0 ? name : name.slice(0, dot)).replaceAll(".", "").replaceAll(/[+,;=[\]]/g, "_");
  if (ending !== (dot < 0 ? "" : name.slice(dot + 1, dot + 4))) return false;
  return (
    start === stem.slice(0, 7 - number!.length) || (start!.startsWith(stem.slice(0, 2)) && isHash(start!.slice(2)))
  );
}

const isHash = (text: string) => /^[0-9a-f]{4}$/.test(text);
