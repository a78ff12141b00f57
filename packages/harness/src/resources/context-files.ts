/** What people write down for every agent that works in a directory: `AGENTS.md` and its like. */
import { dirname, resolve, sep } from "node:path";
import type { FileSystem } from "@tau/tools/platform";
import { problemAt, type ResourceProblem } from "./problem.ts";
import { readText } from "./read-text.ts";

/** A text and where it is from. */
export interface TextFile {
  path: string;
  content: string;
}

/** The first one that a directory has counts: the override replaces the others of its own directory only. */
export const contextFileNames = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"] as const;

/** About eight thousand tokens, the most one file is worth in every request. */
export const maxContextFileBytes = 32 * 1024;
/** For all of them together, in characters. What is nearest to the working directory is kept. */
export const maxContextCharacters = 128 * 1024;

export interface Loaded<T> {
  value: T;
  problems: ResourceProblem[];
}

export interface ContextFilesRequest {
  fileSystem: FileSystem;
  /** Looked into in this order; see `contextDirectories`. */
  directories: readonly string[];
  /** By path: stands in for a file that is there and cannot be read. */
  lastGood?: ReadonlyMap<string, TextFile>;
}

/** The agent's own directory first, then from the root down: what is nearest to the work is read last and weighs most. */
export function contextDirectories({ agentDir, cwd }: { agentDir: string; cwd?: string | undefined }): string[] {
  const own = resolve(agentDir);
  if (cwd === undefined) return [own];
  return [own, ...ancestors(cwd).filter((directory) => directory !== own)];
}

/** From the root down to the directory itself. */
export function ancestors(directory: string): string[] {
  const all: string[] = [];
  for (let at = resolve(directory); ; at = dirname(at)) {
    all.unshift(at);
    if (dirname(at) === at) return all;
  }
}

/** At most one file a directory. A file that is found under two names is read once. */
export async function loadContextFiles(request: ContextFilesRequest): Promise<Loaded<TextFile[]>> {
  const problems: ResourceProblem[] = [];
  const found: TextFile[] = [];
  const seen = new Set<string>();
  for (const directory of request.directories) {
    const file = await getContextFile(directory, request, problems);
    if (!file || seen.has(file.identity)) continue;
    seen.add(file.identity);
    if (file.content.trim() !== "") found.push({ path: file.path, content: file.content });
  }
  return { value: withinBounds(found, problems), problems };
}

async function getContextFile(
  directory: string,
  { fileSystem, lastGood }: ContextFilesRequest,
  problems: ResourceProblem[],
): Promise<(TextFile & { identity: string }) | undefined> {
  // Not `join`: five names in each directory up to the root would make it the busiest function of a short run.
  const below = directory.endsWith(sep) ? directory : directory + sep;
  for (const name of contextFileNames) {
    const path = below + name;
    const outcome = await readText(fileSystem, path, maxContextFileBytes);
    if (outcome.kind === "missing") continue;
    if (outcome.problem) problems.push(outcome.problem);
    if (outcome.kind === "text") return { path, content: outcome.text, identity: outcome.identity };
    const before = lastGood?.get(path);
    if (before) return { ...before, identity: path };
  }
  return undefined;
}

/** Pure but for the problems it reports. */
function withinBounds(files: readonly TextFile[], problems: ResourceProblem[]): TextFile[] {
  const kept: TextFile[] = [];
  let size = 0;
  for (const file of files.toReversed()) {
    size += file.content.length;
    if (size <= maxContextCharacters) kept.unshift(file);
    else {
      const text = `it is left out: together the context files have more than ${maxContextCharacters} characters. Make them shorter.`;
      problems.push(problemAt("too_large", { path: file.path }, text));
    }
  }
  return kept;
}
