/** Finds the paths of kept results in the arguments of calls. Pure. */
import { basename } from "node:path";

/** An absolute path, of characters that mean nothing to a shell, whose file has the name of a kept result. */
const resultPath = /(?<![\w./-])(?:\/[\w.-]+)+\/result-[\w-]+\.\w+(?![\w/-])/g;

/** The arguments that may name files. The others, such as the content of a file, are data. */
const namingArguments = new Set(["path", "paths", "command", "code"]);

interface ResultPath {
  path: string;
  /** That of the blob. */
  name: string;
}

const listTexts = (args: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(args).flatMap(([key, value]) =>
    namingArguments.has(key) ? [value].flat().filter((each) => typeof each === "string") : [],
  );

/** Each path once. */
export function findResultPaths(args: Readonly<Record<string, unknown>>): ResultPath[] {
  const paths = new Set(listTexts(args).flatMap((text) => text.match(resultPath) ?? []));
  return [...paths].map((path) => ({ path, name: basename(path) }));
}

/** Replaces paths in the arguments themselves: what is judged and executed is the same object. */
export function replacePaths(args: Record<string, unknown>, paths: ReadonlyMap<string, string>): void {
  if (paths.size === 0) return;
  const replace = (value: unknown): unknown =>
    typeof value === "string"
      ? value.replaceAll(resultPath, (path) => paths.get(path) ?? path)
      : Array.isArray(value)
        ? value.map(replace)
        : value;
  for (const key of namingArguments) if (Object.hasOwn(args, key)) args[key] = replace(args[key]);
}
