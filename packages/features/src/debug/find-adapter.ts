/** Finds the adapter for a program, and where it is installed. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { isProgram, listPathDirectories } from "../kit/programs.ts";
import type { DapAdapter, DapResolvedAdapter } from "./adapters.ts";

export interface AdapterPlace {
  /** The directory of the project. */
  cwd: string;
  /** Programs of the project are used only then. */
  isProjectTrusted: boolean;
  path: string | undefined;
}

/** Directories of a project in which its own programs are. */
const projectDirectories = ["node_modules/.bin", "bin"];
const environmentDirectories = [".venv/bin", "venv/bin", "env/bin"];

/** Lists everything that could be started as this adapter, the first choice first. */
export function findCommands(adapter: DapAdapter, { cwd, isProjectTrusted, path }: AdapterPlace): string[] {
  const own = !isProjectTrusted ? [] : adapter.isInEnvironment ? environmentDirectories : projectDirectories;
  const directories = [...own.map((directory) => join(cwd, directory)), ...listPathDirectories(path)];
  const names = adapter.commands;
  // A path is that program, whichever directories there are.
  const paths = names.filter((name) => name.includes("/")).map((name) => resolve(cwd, name));
  const byName = names.filter((name) => !name.includes("/"));
  const inDirectories = directories.flatMap((directory) => byName.map((name) => join(directory, name)));
  const isAllowed = (file: string) => isProjectTrusted || !file.startsWith(`${resolve(cwd)}/`);
  return [...new Set([...paths, ...inDirectories])].filter((file) => isAllowed(file) && isProgram(file));
}

export const resolveAdapter = (adapter: DapAdapter, resolvedCommand: string): DapResolvedAdapter => ({
  ...adapter,
  resolvedCommand,
});

/** Lists the adapters that fit a program, the first choice first. */
export function listFitting(adapters: readonly DapAdapter[], program: string): DapAdapter[] {
  const ending = extname(program).toLowerCase();
  const byEnding = adapters.filter(({ fileTypes }) => ending !== "" && fileTypes.includes(ending));
  if (byEnding.length > 0) return byEnding;
  const kind = sniff(program);
  if (kind === "native") return adapters.filter(({ isNative }) => isNative);
  if (kind === "go") return adapters.filter(({ fileTypes }) => fileTypes.includes(".go"));
  return kind === "python" ? adapters.filter(({ fileTypes }) => fileTypes.includes(".py")) : [];
}

/** Lists the adapters of which a project has a marker. */
export const listForProject = (adapters: readonly DapAdapter[], cwd: string): DapAdapter[] =>
  adapters.filter(({ rootMarkers }) => rootMarkers.some((name) => exists(join(cwd, name))));

/** Sources that have to be compiled first. */
const compiled = new Set([".c", ".cc", ".cpp", ".cxx", ".rs", ".swift", ".zig", ".m", ".h"]);

/** Whether a program is a source file that has to be compiled before it can be debugged. */
export const isSource = (program: string): boolean => compiled.has(extname(program).toLowerCase());

const magic: readonly [bytes: string, kind: "native" | "python"][] = [
  ["\u007fELF", "native"],
  ["\u00cf\u00fa\u00ed\u00fe", "native"],
  ["\u00ca\u00fe\u00ba\u00be", "native"],
];

function sniff(program: string): "native" | "python" | "go" | undefined {
  if (exists(join(program, "go.mod"))) return "go";
  const start = readStart(program);
  if (/^#!.*\bpython/.test(start)) return "python";
  return magic.find(([bytes]) => start.startsWith(bytes))?.[1];
}

function readStart(path: string): string {
  try {
    // A pipe would be waited for.
    if (!statSync(path).isFile()) return "";
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(64);
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)).toString("latin1");
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}

const exists = (path: string): boolean => {
  try {
    statSync(path);
    return true;
  } catch {
    return false;
  }
};
