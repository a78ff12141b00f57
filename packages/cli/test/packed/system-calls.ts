/** Lists what a traced program executed, where it connected to, and which files it opened. */
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";

/** Undefined if programs can be traced here; otherwise why not. */
export function findTraceProblem(): string | undefined {
  const { status, error, stderr } = spawnSync("strace", ["-f", "-o", "/dev/null", "true"], { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr);
}

/** The command line before the program that is traced. `calls` names the system calls. */
export const getTraceCommand = (file: string, calls = "execve,execveat,connect"): string[] => [
  "strace",
  "-f",
  "-qq",
  "-s",
  "4096",
  "-e",
  `trace=${calls}`,
  "-o",
  file,
];

export interface SystemCalls {
  /** The arguments of every program that was executed, or looked for. */
  executed: string[];
  /** The addresses of all connections. */
  connected: string[];
}

export async function readSystemCalls(file: string): Promise<SystemCalls> {
  const lines = (await readFile(file, "utf8")).split("\n");
  const collect = (pattern: RegExp) => lines.flatMap((line) => pattern.exec(line)?.[1] ?? []);
  return { executed: collect(/ execve(?:at)?\((.*)/), connected: collect(/ connect\(\d+, (\{.*?\})/) };
}

/** `open` does not exist on every processor. */
export const fileCalls = "?open,openat,inotify_add_watch";

/** The paths that were opened or watched, or would have been if there was something; see `fileCalls`. */
export async function readOpenedPaths(file: string): Promise<string[]> {
  const lines = (await readFile(file, "utf8")).split("\n");
  return lines.flatMap((line) => / (?:open|openat|inotify_add_watch)\((?:[^",]*, )?"([^"]*)"/.exec(line)?.[1] ?? []);
}
