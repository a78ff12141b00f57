/** Reads the ignore files of a directory tree. */
import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { tryRead } from "../try-read.ts";

const names = [".gitignore", ".ignore", ".fdignore"];

interface Rule {
  /** The directory of the file that has it. */
  base: string;
  pattern: RegExp;
  isNegated: boolean;
  isForDirectories: boolean;
}

export interface Ignore {
  ignores(path: string, isDirectory: boolean): boolean;
  /** With the files of a directory below. */
  extend(directory: string): Ignore;
}

export const createIgnore = (root: string): Ignore => createWith(readRules(root), root);

const createWith = (rules: readonly Rule[], readFrom: string): Ignore => ({
  // The last rule that matches decides.
  ignores(path, isDirectory) {
    const rule = rules.findLast(({ base, pattern, isForDirectories }) => {
      return (isDirectory || !isForDirectories) && pattern.test(relative(base, path).split(sep).join("/"));
    });
    return rule !== undefined && !rule.isNegated;
  },
  extend: (directory) =>
    directory === readFrom ? createWith(rules, readFrom) : createWith([...rules, ...readRules(directory)], directory),
});

function readRules(directory: string): Rule[] {
  return names
    .map((name) => join(directory, name))
    .flatMap((path) => (tryRead(() => readFileSync(path, "utf8")) ?? "").split(/\r?\n/))
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => toRule(directory, line));
}

function toRule(base: string, line: string): Rule {
  const isNegated = line.startsWith("!");
  const body = isNegated ? line.slice(1) : line;
  const isForDirectories = body.endsWith("/");
  const path = body.replace(/\/$/, "");
  // A pattern with a slash is relative to its file; one without matches at any depth.
  const isAnchored = path.includes("/");
  const glob = toPattern(path.replace(/^\//, ""));
  return { base, pattern: new RegExp(`${isAnchored ? "^" : "(?:^|/)"}${glob}$`), isNegated, isForDirectories };
}

const toPattern = (glob: string): string =>
  glob.replace(/[.+^${}()|[\]\\]/g, String.raw`\$&`).replace(/\*\*\/|\/?\*\*|\*|\?/g, (wildcard) => {
    if (wildcard === "**/") return "(?:.*/)?";
    if (wildcard.endsWith("**")) return ".*";
    return wildcard === "*" ? "[^/]*" : "[^/]";
  });
