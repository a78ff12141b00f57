/** pi's tool `find`: files by name, without those that are ignored. */
import { existsSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { createFiles, createFindTool as createOwnFindTool, createSpawn } from "@tau/tools";
import * as Type from "typebox";
import { toPath } from "./paths.ts";
import { createTool, type PiTool, refuseAborted, toResult } from "./tool.ts";
import { DEFAULT_MAX_BYTES, formatSize, truncateHead, type TruncationResult } from "./truncate.ts";

type Maybe<T> = T | Promise<T>;

interface FindOperations {
  exists(path: string): Maybe<boolean>;
  /** Paths that match, absolute or relative to `cwd`. */
  glob(pattern: string, cwd: string, options: { ignore: string[]; limit: number }): Maybe<string[]>;
}

export interface FindToolOptions {
  /** Default: this machine's files. */
  operations?: FindOperations;
}

interface FindToolDetails {
  truncation?: TruncationResult;
  resultLimitReached?: number;
}

interface FindArguments {
  pattern: string;
  path?: string;
  limit?: number;
}

const parameters = Type.Object({
  pattern: Type.String({ description: "Glob, such as '*.ts', '**/*.json' or 'src/**/*.test.ts'" }),
  path: Type.Optional(Type.String({ description: "Directory to search. Default: the working directory" })),
  limit: Type.Optional(Type.Number({ description: "How many files at most. Default: 1000" })),
});

const ignore = ["**/node_modules/**", "**/.git/**"];

export function createFindTool(cwd: string, { operations }: FindToolOptions = {}): PiTool<FindToolDetails | undefined> {
  return createTool<FindArguments, FindToolDetails | undefined>(
    "find",
    parameters,
    async ({ pattern, path: typed = ".", limit = 1_000 }, signal) => {
      refuseAborted(signal);
      const root = toPath(cwd, typed);
      if (!(await (operations?.exists ?? existsSync)(root))) throw new Error(`Path not found: ${root}`);
      const paths = operations
        ? await operations.glob(pattern, root, { ignore, limit })
        : await findFiles(root, { pattern, limit }, signal);
      refuseAborted(signal);
      if (paths.length === 0) return toResult("No files found matching pattern", undefined);
      return present(
        paths.map((path) => toRelative(root, path)),
        limit,
      );
    },
  );
}

async function findFiles(
  root: string,
  query: { pattern: string; limit: number },
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const tool = createOwnFindTool({ cwd: root, files: createFiles(), spawn: createSpawn() });
  const { content, details } = await tool.execute("find", query, signal);
  const [first] = content;
  // Below the paths there may be remarks.
  return first?.type === "text" ? first.text.split("\n").slice(0, details?.shown ?? 0) : [];
}

const toRelative = (root: string, path: string): string =>
  (isAbsolute(path) ? relative(root, path) : path).split(sep).join("/");

function present(paths: readonly string[], limit: number) {
  const truncation = truncateHead(paths.join("\n"), { maxLines: Number.MAX_SAFE_INTEGER });
  const isLimited = paths.length >= limit;
  const advice = `Use limit=${limit * 2} for more, or refine pattern`;
  const notices = [
    isLimited ? `${limit} results limit reached. ${advice}` : "",
    truncation.truncated ? `${formatSize(DEFAULT_MAX_BYTES)} limit reached` : "",
  ].filter(Boolean);
  const text = [truncation.content, ...(notices.length > 0 ? [`[${notices.join(". ")}]`] : [])].join("\n\n");
  const details: FindToolDetails = {
    ...(isLimited && { resultLimitReached: limit }),
    ...(truncation.truncated && { truncation }),
  };
  return toResult(text, notices.length > 0 ? details : undefined);
}
