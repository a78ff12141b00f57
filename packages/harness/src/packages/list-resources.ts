/** Finds the resources in the directory of a package. */
import { join, posix, relative, resolve, sep } from "node:path";
import { isWithin, nodeFileSystem } from "@tau/tools/platform";
import { orUndefined } from "../durable-file.ts";
import { getPathKind } from "../resources/read-text.ts";
import { filterResources, matches } from "./filter-resources.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { type ResourceKind, resourceKinds } from "./package-resources.ts";

/** By kind, as paths from the root of the package with slashes, sorted. */
export type ResourceNames = Record<ResourceKind, string[]>;

const maxDepth = 6;
const maxFiles = 5_000;
const script = /\.[cm]?[jt]s$/;
const isScript = (name: string): boolean => script.test(name) && !/\.d\.[cm]?ts$/.test(name);
const skillFile = "SKILL.md";

/**
 * What the manifest declares, else what is in the directories `extensions`, `skills`, `prompts` and `themes`. A package
 * with neither is an extension if it has a `main`. What leads out of the package is not listed.
 */
export async function listResources(root: string, manifest: Manifest | undefined): Promise<ResourceNames> {
  const names = Object.fromEntries(resourceKinds.map((kind) => [kind, [] as string[]])) as ResourceNames;
  for (const kind of resourceKinds) {
    const patterns = manifest?.declared ? (manifest.declared[kind] ?? []) : [kind];
    names[kind] = await expand(root, kind, patterns);
  }
  const isEmpty = resourceKinds.every((kind) => names[kind].length === 0);
  if (isEmpty && manifest && !manifest.declared) names.extensions = await findMain(root, manifest);
  return names;
}

async function findMain(root: string, { main }: Manifest): Promise<string[]> {
  const candidates = main === undefined ? [] : [main, `${main}.js`, posix.join(main, "index.js")];
  for (const name of [...candidates, "index.ts", "index.js"]) {
    const path = resolve(root, name);
    if ((await getPathKind(nodeFileSystem, path)) === "file" && (await isInside(root, path)))
      return [toName(root, path)];
  }
  return [];
}

async function expand(root: string, kind: ResourceKind, entries: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  const signed = entries.filter((entry) => /^[!+-]/.test(entry));
  for (const pattern of entries.filter((entry) => !signed.includes(entry))) {
    const paths = /[*?]/.test(pattern)
      ? (await listFiles(root)).filter((name) => matches(name, pattern) && isOfKind(kind, name))
      : await listAt(root, kind, resolve(root, pattern));
    const own = kind === "skills" ? leaveOutParts(paths) : paths;
    for (const path of own) if (await isInside(root, resolve(root, path))) found.add(path);
  }
  return filterResources([...found].sort(), signed.length === 0 ? [] : [signed]);
}

/** What is beside or below the `SKILL.md` of a skill belongs to it. */
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

const isOfKind = (kind: ResourceKind, name: string): boolean => {
  if (kind === "extensions") return isScript(name);
  return name.endsWith(kind === "themes" ? ".json" : ".md");
};

/** The resource that a path is, or those that are in it. */
async function listAt(root: string, kind: ResourceKind, path: string): Promise<string[]> {
  const pathKind = await getPathKind(nodeFileSystem, path);
  if (pathKind === "file") return [toName(root, path)];
  if (pathKind !== "directory") return [];
  const files = (await listFiles(path)).map((name) => posix.join(toName(root, path), name));
  const depthOf = (name: string) => posix.relative(toName(root, path), name).split("/").length;
  switch (kind) {
    case "extensions":
      return await listExtensions(root, path);
    case "skills":
      return files.filter(
        (name) => posix.basename(name) === skillFile || (depthOf(name) === 1 && name.endsWith(".md")),
      );
    case "prompts":
    case "themes":
      return files.filter((name) => depthOf(name) === 1 && isOfKind(kind, name));
  }
}

/** Files, and directories with a manifest of their own or an index; one level deep. */
async function listExtensions(root: string, directory: string): Promise<string[]> {
  const names: string[] = [];
  const own = await listOne(root, directory);
  if (own) return own;
  for (const { name, isDirectory } of (await orUndefined(nodeFileSystem.readdir(directory))) ?? []) {
    const path = join(directory, name);
    if (isDirectory) names.push(...((await listOne(root, path)) ?? []));
    else if (isScript(name)) names.push(toName(root, path));
  }
  return names;
}

/** The extensions of a directory that is one package of its own; undefined if it is none. */
async function listOne(root: string, directory: string): Promise<string[] | undefined> {
  const declared = directory === root ? undefined : (await readManifest(directory))?.declared?.extensions;
  if (declared) {
    const paths = declared.map((path) => resolve(directory, path));
    const kinds = await Promise.all(paths.map((path) => getPathKind(nodeFileSystem, path)));
    return paths.filter((_path, index) => kinds[index] === "file").map((path) => toName(root, path));
  }
  for (const name of ["index.ts", "index.js"]) {
    const path = join(directory, name);
    if ((await getPathKind(nodeFileSystem, path)) === "file") return [toName(root, path)];
  }
  return undefined;
}

/** All files, without those of dependencies and hidden directories. */
async function listFiles(root: string): Promise<string[]> {
  const files: string[] = [];
  const search = async (directory: string, depth: number): Promise<void> => {
    if (depth > maxDepth || files.length > maxFiles) return;
    for (const { name, isDirectory } of (await orUndefined(nodeFileSystem.readdir(directory))) ?? []) {
      const path = join(directory, name);
      if (!isDirectory) files.push(toName(root, path));
      else if (name !== "node_modules" && !name.startsWith(".")) await search(path, depth + 1);
    }
  };
  await search(root, 0);
  return files.sort();
}

const toName = (root: string, path: string): string => relative(root, path).split(sep).join("/");

async function isInside(root: string, path: string): Promise<boolean> {
  const [realRoot, realPath] = await Promise.all(
    [root, path].map((each) => orUndefined(nodeFileSystem.realpath(each))),
  );
  return realRoot !== undefined && realPath !== undefined && isWithin(realRoot, realPath);
}
