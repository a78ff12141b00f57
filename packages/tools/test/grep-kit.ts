/** Searches trees of files that a test creates. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TextContent } from "@tau/ai";
import { createFiles } from "../src/platform/files.ts";
import { createSpawn, type RunningProcess, type SpawnRequest } from "../src/platform/spawn.ts";
import { createGrepTool, type GrepOptions } from "../src/search/grep.ts";
import { scratch } from "./scratch.ts";

export type Args = Parameters<ReturnType<typeof createGrepTool>["execute"]>[1];

export const grep = async (cwd: string, args: Args, options: Partial<GrepOptions> = {}, signal?: AbortSignal) => {
  const tool = createGrepTool({ cwd, files: createFiles(), spawn: createSpawn(), ...options });
  const { content, details } = await tool.execute("id", args, signal);
  return { text: (content[0] as TextContent).text, details: details! };
};

/** A directory with these files. */
export const tree = (files: Record<string, string | Buffer>, cwd = scratch()) => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), content);
  }
  return cwd;
};

/** Remembers what was started, and says when. Two threads, so that an endless file never stands before another one. */
export const watchedSpawn = () => {
  const requests: SpawnRequest[] = [];
  const children: RunningProcess[] = [];
  let begun: () => void;
  const started = new Promise<void>((resolve) => (begun = resolve));
  const real = createSpawn(({ argv: [program, ...args], ...rest }) => ({
    ...rest,
    argv: [program, "--threads=2", ...args],
  }));
  const spawn = async (request: SpawnRequest) => {
    const child = await real(request);
    requests.push(request);
    children.push(child);
    begun();
    return child;
  };
  return { spawn, requests, children, started };
};
