/** pi's tool `ls`, over operations that may be those of another machine. */
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import * as Type from "typebox";
import { toPath } from "./paths.ts";
import { createTool, type PiTool, refuseAborted, toResult } from "./tool.ts";
import { DEFAULT_MAX_BYTES, formatSize, truncateHead, type TruncationResult } from "./truncate.ts";

type Maybe<T> = T | Promise<T>;

interface LsOperations {
  exists(path: string): Maybe<boolean>;
  stat(path: string): Maybe<{ isDirectory(): boolean }>;
  readdir(path: string): Maybe<string[]>;
}

export interface LsToolOptions {
  /** Default: this machine's files. */
  operations?: LsOperations;
}

interface LsToolDetails {
  truncation?: TruncationResult;
  entryLimitReached?: number;
}

const parameters = Type.Object({
  path: Type.Optional(Type.String({ description: "Directory to list. Default: the working directory" })),
  limit: Type.Optional(Type.Number({ description: "How many entries to list at most. Default: 500" })),
});

const localOperations: LsOperations = { exists: existsSync, stat, readdir };

export function createLsTool(
  cwd: string,
  { operations = localOperations }: LsToolOptions = {},
): PiTool<LsToolDetails | undefined> {
  return createTool<{ path?: string; limit?: number }, LsToolDetails | undefined>(
    "ls",
    parameters,
    async ({ path: typed = ".", limit = 500 }, signal) => {
      refuseAborted(signal);
      const path = toPath(cwd, typed);
      if (!(await operations.exists(path))) throw new Error(`Path not found: ${path}`);
      if (!(await operations.stat(path)).isDirectory()) throw new Error(`Not a directory: ${path}`);
      const names = (await operations.readdir(path)).sort((a, b) => compare(a.toLowerCase(), b.toLowerCase()));
      const lines: string[] = [];
      for (const name of names.slice(0, limit)) {
        refuseAborted(signal);
        lines.push(...(await describe(operations, path, name)));
      }
      if (names.length === 0) return toResult("(empty directory)", undefined);
      const truncation = truncateHead(lines.join("\n"), { maxLines: Number.MAX_SAFE_INTEGER });
      const isLimited = names.length > limit;
      const notices = [
        isLimited ? `${limit} entries limit reached. Use limit=${limit * 2} for more` : "",
        truncation.truncated ? `${formatSize(DEFAULT_MAX_BYTES)} limit reached` : "",
      ].filter(Boolean);
      const text = [truncation.content, ...(notices.length > 0 ? [`[${notices.join(". ")}]`] : [])].join("\n\n");
      const details = {
        ...(isLimited && { entryLimitReached: limit }),
        ...(truncation.truncated && { truncation }),
      };
      return toResult(text, notices.length > 0 ? details : undefined);
    },
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Nothing for an entry that is gone, or a link that leads nowhere. */
const describe = async (operations: LsOperations, directory: string, name: string): Promise<string[]> =>
  await Promise.resolve(operations.stat(join(directory, name))).then(
    (stats) => [stats.isDirectory() ? `${name}/` : name],
    () => [],
  );
