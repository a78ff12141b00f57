/** Finds the resources of one kind in a directory, and decides which of them are used. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { findAt } from "@tau/config/internal";
import { filterResources } from "@tau/config/installs";
import { expandHome, findSkillFiles, tryRead } from "@tau/pi/internal";
import type { ResourceKind } from "./resolved-paths.ts";

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** A file is itself; nothing is found where there is nothing. */
export function findResources(kind: ResourceKind, path: string): string[] {
  if (!existsSync(path)) return [];
  if (!isDirectory(path)) return [path];
  switch (kind) {
    case "extensions":
      return findAt(path).entries.map((entry) => entry.path);
    case "skills":
      return findSkillFiles(path);
    case "prompts":
      return listFiles(path, ".md");
    case "themes":
      return listFiles(path, ".json");
  }
}

const listFiles = (directory: string, ending: string): string[] =>
  (tryRead(() => readdirSync(directory)) ?? [])
    .filter((name) => name.endsWith(ending) && !name.startsWith("."))
    .sort()
    .map((name) => join(directory, name));

const isPattern = (entry: string): boolean => /^[!+-]/.test(entry) || /[*?]/.test(entry);

/** A list in the settings: paths add resources, patterns choose among them. */
interface EntryList {
  paths: readonly string[];
  patterns: readonly string[];
}

export const splitEntries = (entries: readonly string[]): EntryList => ({
  paths: entries.filter((entry) => !isPattern(entry)),
  patterns: entries.filter(isPattern),
});

/** Paths that a list names, relative to the directory of its settings. */
export const resolveEntry = (baseDir: string, entry: string): string => resolve(baseDir, expandHome(entry));

/** Selects the paths that the patterns enable. Patterns are relative to `baseDir`. */
export function selectEnabled(paths: readonly string[], patterns: readonly string[], baseDir: string): Set<string> {
  if (patterns.length === 0) return new Set(paths);
  const toName = (path: string) => relative(baseDir, path).split(sep).join("/");
  const byName = new Map(paths.map((path) => [toName(path), path]));
  const relativePatterns = patterns.map((pattern) => {
    const sign = /^[!+-]/.exec(pattern)?.[0] ?? "";
    const body = pattern.slice(sign.length);
    return sign + (body.startsWith("/") || body.startsWith("~") ? toName(resolveEntry(baseDir, body)) : body);
  });
  const names = filterResources([...byName.keys()], [relativePatterns]);
  return new Set(names.map((name) => byName.get(name)!));
}
