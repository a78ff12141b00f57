/** Files and folders that begin with a prefix, or whose names contain a text. */
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { formatPath, type PathPrefix, resolveFolder, splitPath } from "./path-prefix.ts";

export interface AutocompleteItem {
  value: string;
  label: string;
  description?: string;
}

interface Entry {
  name: string;
  isFolder: boolean;
  isLink: boolean;
}

/** The content of one folder, folders first. */
export async function listFiles(
  prefix: PathPrefix,
  basePath: string,
  signal: AbortSignal,
): Promise<AutocompleteItem[]> {
  const { folder, name } = splitPath(prefix.path);
  const start = name.toLowerCase();
  const entries = await readFolder(resolveFolder(folder, basePath), signal, (entry) => entry.startsWith(start));
  return entries
    .sort((a, b) => Number(b.isFolder) - Number(a.isFolder) || a.name.localeCompare(b.name))
    .map((entry) => toItem(folder, entry, prefix));
}

const maxResults = 20;
const maxVisited = 20_000;
const skipped: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Files and folders at any depth, for `@`. Those whose names begin with the text come first, then folders, then short paths. */
export async function searchFiles(
  prefix: PathPrefix,
  basePath: string,
  signal: AbortSignal,
): Promise<AutocompleteItem[]> {
  const { folder, query } = await splitQuery(prefix.path, basePath);
  const root = resolveFolder(folder, basePath);
  const matches: { path: string; entry: Entry; rank: number }[] = [];
  const queue = [""];
  let visited = 0;
  for (let next = queue.shift(); next !== undefined && visited < maxVisited; next = queue.shift()) {
    for (const entry of await readFolder(join(root, next), signal, () => true)) {
      visited++;
      if (entry.name === ".git") continue;
      const path = next + entry.name;
      const rank = getRank(query, path, entry);
      if (rank !== undefined) matches.push({ path: next, entry, rank });
      // Links may lead in a circle.
      if (entry.isFolder && !entry.isLink && !skipped.has(entry.name)) queue.push(`${path}/`);
    }
    if (signal.aborted) return [];
  }
  return matches
    .sort((a, b) => a.rank - b.rank || comparePlaces(a, b) || a.entry.name.localeCompare(b.entry.name))
    .slice(0, maxResults)
    .map(({ path, entry }) => {
      const { value, label } = toItem(folder + path, entry, prefix);
      return { value, label, description: folder + path + entry.name };
    });
}

type Match = { path: string; entry: Entry };

const comparePlaces = (a: Match, b: Match) =>
  a.path.split("/").length - b.path.split("/").length ||
  Number(b.entry.isFolder) - Number(a.entry.isFolder) ||
  a.path.length + a.entry.name.length - b.path.length - b.entry.name.length;

/** Splits at the last slash: the folder to search, if there is one, and the query. */
async function splitQuery(path: string, basePath: string): Promise<{ folder: string; query: string }> {
  const { folder, name } = splitPath(path);
  const isFolder = folder === "" || (await isDirectory(resolveFolder(folder, basePath)));
  return isFolder ? { folder, query: name.toLowerCase() } : { folder: "", query: path.toLowerCase() };
}

function getRank(query: string, path: string, { name, isFolder }: Entry): number | undefined {
  if (query === "") return 0;
  const lowerName = name.toLowerCase();
  const rank = isFolder ? 0 : 1;
  if (lowerName.startsWith(query)) return rank;
  if (lowerName.includes(query)) return 2 + rank;
  return query.includes("/") && path.toLowerCase().includes(query) ? 4 + rank : undefined;
}

async function readFolder(
  path: string,
  signal: AbortSignal,
  matches: (lowerName: string) => boolean,
): Promise<Entry[]> {
  if (signal.aborted) return [];
  // A folder that cannot be read has nothing to offer.
  const entries = await readdir(path, { withFileTypes: true }).catch((): Dirent[] => []);
  // A line break in a name would break the line in which it is completed.
  const matching = entries.filter(({ name }) => matches(name.toLowerCase()) && !/\p{Cc}/u.test(name));
  return Promise.all(matching.map((entry) => toEntry(path, entry)));
}

async function toEntry(folder: string, entry: Dirent): Promise<Entry> {
  const isLink = entry.isSymbolicLink();
  const isFolder = isLink ? await isDirectory(join(folder, entry.name)) : entry.isDirectory();
  return { name: entry.name, isFolder, isLink };
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

function toItem(folder: string, { name, isFolder }: Entry, prefix: PathPrefix): AutocompleteItem {
  const label = isFolder ? `${name}/` : name;
  return { value: formatPath(folder + label, prefix), label };
}
