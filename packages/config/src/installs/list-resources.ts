/** Finds the resources in the directory of a package. */
import { realpathSync } from "node:fs";
import { posix, relative, resolve, sep } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { filterResources, findMatches } from "./filter-resources.ts";
import { findDeclared, findInPackage } from "./find-entries.ts";
import type { Manifest } from "./manifest.ts";
import { type ResourceKind, resourceKinds } from "./package-resources.ts";
import { getKind, listFiles, orUndefinedSync } from "./read-directory.ts";

/** By kind, as paths from the root of the package with slashes, sorted. */
export type ResourceNames = Record<ResourceKind, string[]>;

const skillFile = "SKILL.md";

/**
 * Lists what the manifest declares, else what is in the directories `extensions`, `skills`, `prompts`, `themes` and
 * `agents`. A package with neither is an extension if it has a `main`. What leads out of the package is not listed.
 */
export function listResources(directory: string, manifest: Manifest | undefined): ResourceNames {
  const root = orUndefinedSync(() => realpathSync.native(directory)) ?? directory;
  const list = (kind: ResourceKind) => {
    const patterns = manifest?.declared ? (manifest.declared[kind] ?? []) : [kind];
    return kind === "extensions" ? listExtensions(root, patterns) : expand(root, kind, patterns);
  };
  const names = Object.fromEntries(resourceKinds.map((kind) => [kind, list(kind)])) as ResourceNames;
  const isEmpty = resourceKinds.every((kind) => names[kind].length === 0);
  if (!isEmpty || !manifest || manifest.declared) return names;
  return { ...names, extensions: keepOwn(root, findInPackage(root)?.entries ?? []) };
}

/** Whether a package has anything that a session could use, or plugins that could be installed. */
export const bringsSomething = (names: ResourceNames, manifest: Manifest | undefined): boolean =>
  resourceKinds.some((kind) => names[kind].length > 0) ||
  Object.keys(manifest?.servers ?? {}).length > 0 ||
  manifest?.marketplace !== undefined;

const listExtensions = (root: string, patterns: readonly string[]): string[] =>
  keepOwn(root, findDeclared(patterns, { directory: root, name: "" }).entries).sort();

const keepOwn = (root: string, entries: readonly { readonly path: string }[]): string[] =>
  entries.flatMap(({ path }) => (isWithin(root, path) ? toName(root, path) : []));

function expand(root: string, kind: Exclude<ResourceKind, "extensions">, entries: readonly string[]): string[] {
  const signed = entries.filter((entry) => /^[!+-]/.test(entry));
  const found = entries
    .filter((entry) => !signed.includes(entry))
    .flatMap((pattern) => {
      const paths = /[*?]/.test(pattern)
        ? findMatches(root, pattern).filter((name) => isOfKind(kind, name))
        : listAt(root, kind, resolve(root, pattern));
      return kind === "skills" ? leaveOutParts(paths) : paths;
    });
  const own = [...new Set(found)].filter((name) => isInside(root, resolve(root, name))).sort();
  return filterResources(own, signed.length === 0 ? [] : [signed]);
}

/** Leaves out files beside or below the `SKILL.md` of a skill: they belong to it. */
function leaveOutParts(names: readonly string[]): readonly string[] {
  const skills = new Set(names.filter((name) => posix.basename(name) === skillFile));
  const isPart = (name: string) => {
    const parts = name.split("/");
    return parts.some((_part, depth) => {
      const skill = posix.join(...parts.slice(0, depth), skillFile);
      return skill !== name && skills.has(skill);
    });
  };
  return names.filter((name) => !isPart(name));
}

const isOfKind = (kind: ResourceKind, name: string): boolean => name.endsWith(kind === "themes" ? ".json" : ".md");

/** The resource that a path is, or those that are in it. */
function listAt(root: string, kind: Exclude<ResourceKind, "extensions">, path: string): string[] {
  const pathKind = getKind(path);
  if (pathKind === "file") return [toName(root, path)];
  if (pathKind !== "directory") return [];
  const isListed = (name: string): boolean => {
    const isDirect = !name.includes("/");
    if (kind === "skills") return posix.basename(name) === skillFile || (isDirect && isOfKind(kind, name));
    return isDirect && isOfKind(kind, name);
  };
  return listFiles(path)
    .filter(isListed)
    .map((name) => posix.join(toName(root, path), name));
}

const toName = (root: string, path: string): string => relative(root, path).split(sep).join("/");

function isInside(root: string, path: string): boolean {
  const realPath = orUndefinedSync(() => realpathSync.native(path));
  return realPath !== undefined && isWithin(root, realPath);
}
