/**
 * Decides what a command may change in a repository's configuration. Most keys of git can name a program, so only those
 * that run nothing are kept, and any other change is undone. Pure.
 */
import { resolve } from "node:path";
import { isHarmlessKey, isInitialKey, isPlaceKey } from "./what-git-runs.ts";

export interface ConfigEntry {
  /** The key as git shows it: `remote.origin.url`. Section and key in lower case. */
  readonly key: string;
  readonly value: string;
}

type ConfigVerdict =
  | { readonly kind: "unchanged" | "allowed" }
  /** `text` is what the file has to be; undefined means that there must be none. */
  | { readonly kind: "undone"; readonly text: string | undefined; readonly keys: readonly string[] };

/**
 * Compares a configuration before and after a command; undefined stands for a file that is missing. A text that is not
 * written as git writes it is not understood, and everything in it is undone. `isPlanted` tells whether commands may have
 * made the repository at a path: a push to it would run its hooks.
 */
export function judgeConfig(
  before: string | undefined,
  after: string | undefined,
  isPlanted: (path: string) => boolean,
): ConfigVerdict {
  if (before === after) return { kind: "unchanged" };
  const old = before === undefined ? [] : parseConfig(before);
  const now = after === undefined ? undefined : parseConfig(after);
  // A file that its owner wrote in an unusual way cannot be merged: it is kept as it was.
  if (!old || !now) return { kind: "undone", text: before, keys: ["(all)"] };
  const isNew = before === undefined;
  const isKept = (entry: ConfigEntry) =>
    (isHarmlessKey(entry.key) && !(isPlaceKey(entry.key) && leadsToPlanted(entry, now, isPlanted))) ||
    (isNew && isInitialKey(entry.key));
  const [oldOthers, nowOthers] = [old, now].map((entries) => entries.filter((entry) => !isKept(entry)));
  const keys = getDifference(oldOthers!, nowOthers!);
  if (keys.length === 0) return { kind: "allowed" };
  const kept = now.filter(isKept);
  const text = formatConfig([...oldOthers!, ...kept]);
  return { kind: "undone", text: isNew && kept.length === 0 ? undefined : text, keys };
}

/** A value is the name of a remote, an address with a scheme or a host, or a path. */
function leadsToPlanted(
  { key, value }: ConfigEntry,
  all: readonly ConfigEntry[],
  isPlanted: (path: string) => boolean,
): boolean {
  const isBranch = key.startsWith("branch.");
  if (isBranch && (value === "." || all.some((entry) => entry.key === `remote.${value}.url`))) return false;
  const path = toLocalPath(value);
  if (path === undefined) return true;
  if (/^[^/]*:/.test(path)) return false;
  // A name that is no remote may be one of a file in the git directory, where git looked for remotes long ago.
  return isPlanted(path) || (isBranch && !path.includes("/"));
}

/**
 * Reads an address of a file as git does: from the root, with escapes. Undefined for escapes that are not understood.
 */
function toLocalPath(value: string): string | undefined {
  const rest = /^file:\/\/(.*)$/is.exec(value)?.[1];
  if (rest === undefined) return value;
  try {
    return resolve("/", decodeURIComponent(rest));
  } catch {
    return undefined;
  }
}

/** The keys whose values, or the order of them, differ. */
function getDifference(old: readonly ConfigEntry[], now: readonly ConfigEntry[]): string[] {
  const group = (entries: readonly ConfigEntry[]) => {
    const values = new Map<string, string[]>();
    for (const { key, value } of entries) values.set(key, [...(values.get(key) ?? []), value]);
    return values;
  };
  const [before, after] = [group(old), group(now)];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => JSON.stringify(before.get(name)) !== JSON.stringify(after.get(name))).sort();
}

const sectionLine = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\["\\])*)")?\s*\]\s*$/;
const entryLine = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/;

/** Undefined for a text with anything that git does not write itself, such as continued lines or code on a section's line. */
export function parseConfig(text: string): ConfigEntry[] | undefined {
  const entries: ConfigEntry[] = [];
  let section: string | undefined;
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    if (/^\s*(?:[#;].*)?$/.test(line)) continue;
    const [, name, quoted] = sectionLine.exec(line) ?? [];
    if (name !== undefined) {
      const [first = "", ...rest] = name.split(".");
      const subsection =
        quoted?.replaceAll(/\\(.)/g, "$1") ?? (rest.length > 0 ? rest.join(".").toLowerCase() : undefined);
      section = subsection === undefined ? first.toLowerCase() : `${first.toLowerCase()}.${subsection}`;
      continue;
    }
    const [, key, raw] = entryLine.exec(line) ?? [];
    const value = raw === undefined ? "true" : parseValue(raw);
    if (section === undefined || key === undefined || value === undefined) return undefined;
    entries.push({ key: `${section}.${key.toLowerCase()}`, value });
  }
  return entries;
}

/** Undefined for a value that continues in the next line, or whose quotes do not close. */
function parseValue(raw: string): string | undefined {
  let value = "";
  let isQuoted = false;
  for (let index = 0; index < raw.length; index++) {
    const character = raw[index]!;
    if (character === '"') isQuoted = !isQuoted;
    else if (character === "\\") {
      const escaped = { n: "\n", t: "\t", b: "\b", '"': '"', "\\": "\\" }[raw[++index] ?? ""];
      if (escaped === undefined) return undefined;
      value += escaped;
    } else if (!isQuoted && (character === "#" || character === ";")) break;
    else value += character;
  }
  return isQuoted ? undefined : value.trimEnd();
}

/** In the order of the entries, each section once where its entries follow each other. */
export function formatConfig(entries: readonly ConfigEntry[]): string {
  const lines: string[] = [];
  let last: string | undefined;
  for (const { key, value } of entries) {
    const end = key.lastIndexOf(".");
    const section = key.slice(0, end);
    if (section !== last) lines.push(formatSection((last = section)));
    lines.push(`\t${key.slice(end + 1)} = ${formatValue(value)}`);
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function formatSection(section: string): string {
  const dot = section.indexOf(".");
  if (dot < 0) return `[${section}]`;
  return `[${section.slice(0, dot)} "${section.slice(dot + 1).replaceAll(/["\\]/g, "\\$&")}"]`;
}

function formatValue(value: string): string {
  const escaped = value
    .replaceAll(/["\\]/g, "\\$&")
    .replaceAll("\n", "\\n")
    .replaceAll("\t", "\\t")
    .replaceAll("\b", "\\b");
  return /^\s|\s$|[#;]/.test(value) ? `"${escaped}"` : escaped;
}
