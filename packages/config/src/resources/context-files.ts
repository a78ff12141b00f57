/** Context files: instructions for every agent that works in a directory, such as `AGENTS.md`. */
import { dirname, join, resolve } from "node:path";
import type { FileSystem } from "@tau/tools/platform";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import { readText } from "./read-text.ts";

export interface TextFile {
  path: string;
  content: string;
}

/** Only the first of them in a directory applies; so the override replaces the others in the same directory. */
export const contextFileNames = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"] as const;

/** About 8,000 tokens, which are part of every request. */
export const maxContextFileBytes = 32 * 1024;
/** The limit of all files together. Those nearest to the working directory are kept. */
export const maxContextCharacters = 128 * 1024;

export interface Loaded<T> {
  value: T;
  problems: ResourceProblem[];
}

export interface LoadedFiles<T> extends Loaded<T> {
  /** Where changes matter: files and directories, also missing ones. */
  watched: string[];
}

/** The parameters of a loader beside the paths. */
export interface LoadRequest<T> {
  fileSystem: FileSystem;
  /** The contents that were last read by path, for files that cannot be read. */
  lastGood?: ReadonlyMap<string, T>;
}

interface ContextFilesRequest extends LoadRequest<TextFile> {
  /** In this order; see `contextDirectories`. */
  directories: readonly string[];
}

/** The agent directory first, then from the root down: the nearest to the working directory is last and has precedence. */
export function contextDirectories({ agentDir, cwd }: { agentDir: string; cwd?: string | undefined }): string[] {
  const first = resolve(agentDir);
  if (cwd === undefined) return [first];
  return [first, ...ancestors(cwd).filter((directory) => directory !== first)];
}

/** From the root down to the directory itself. */
export function ancestors(directory: string): string[] {
  const all: string[] = [];
  for (let path = resolve(directory); ; path = dirname(path)) {
    all.unshift(path);
    if (dirname(path) === path) return all;
  }
}

/** All paths that a context file of these directories may have. */
export const contextFilePaths = (directories: readonly string[]): string[] =>
  directories.flatMap((directory) => contextFileNames.map((name) => join(directory, name)));

/** At most one file per directory. A file with two names is read once. */
export async function loadContextFiles(request: ContextFilesRequest): Promise<Loaded<TextFile[]>> {
  const problems: ResourceProblem[] = [];
  const files: TextFile[] = [];
  const seen = new Set<string>();
  for (const directory of request.directories) {
    const file = await getContextFile(directory, request, problems);
    if (!file || seen.has(file.identity)) continue;
    seen.add(file.identity);
    if (file.content.trim() !== "") files.push({ path: file.path, content: file.content });
  }
  return { value: keepNearest(files, problems), problems };
}

async function getContextFile(
  directory: string,
  { fileSystem, lastGood }: ContextFilesRequest,
  problems: ResourceProblem[],
): Promise<(TextFile & { identity: string }) | undefined> {
  for (const path of contextFilePaths([directory])) {
    const outcome = await readText(fileSystem, path, maxContextFileBytes);
    if (outcome.kind === "missing") continue;
    if (outcome.problem) problems.push(outcome.problem);
    if (outcome.kind === "text") return { path, content: outcome.text, identity: outcome.identity };
    const before = lastGood?.get(path);
    if (before) return { ...before, identity: path };
  }
  return undefined;
}

/** Leaves out the files farthest from the working directory if there is too much. */
function keepNearest(files: readonly TextFile[], problems: ResourceProblem[]): TextFile[] {
  const kept: TextFile[] = [];
  let size = 0;
  for (const file of files.toReversed()) {
    size += file.content.length;
    if (size <= maxContextCharacters) kept.unshift(file);
    else {
      const text = `This file is ignored: the context files together have more than ${maxContextCharacters} characters. Shorten them.`;
      problems.push(createProblem("too_large", { path: file.path }, text));
    }
  }
  return kept;
}
