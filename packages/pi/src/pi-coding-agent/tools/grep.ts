/** pi's tool `grep`: ripgrep finds the matches, and the operations read the lines around them. */
import { readFileSync, statSync } from "node:fs";
import { basename, relative, sep } from "node:path";
import { createInterface } from "node:readline";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { createSpawn, locateRipgrep } from "@tau/tools";
import * as Type from "typebox";
import { toPath } from "./paths.ts";
import { createTool, type PiTool, refuseAborted, toResult } from "./tool.ts";
import {
  DEFAULT_MAX_BYTES,
  formatSize,
  maxMatchLength,
  truncateHead,
  truncateLine,
  type TruncationResult,
} from "./truncate.ts";

type Maybe<T> = T | Promise<T>;

interface GrepOperations {
  /** Throws if there is nothing. */
  isDirectory(path: string): Maybe<boolean>;
  readFile(path: string): Maybe<string>;
}

export interface GrepToolOptions {
  /** Default: this machine's files. */
  operations?: GrepOperations;
}

interface GrepToolDetails {
  truncation?: TruncationResult;
  matchLimitReached?: number;
  linesTruncated?: boolean;
}

interface GrepArguments {
  pattern: string;
  path?: string;
  glob?: string;
  ignoreCase?: boolean;
  literal?: boolean;
  context?: number;
  limit?: number;
}

const parameters = Type.Object({
  pattern: Type.String({ description: "Regular expression or plain text" }),
  path: Type.Optional(Type.String({ description: "Directory or file to search. Default: the working directory" })),
  glob: Type.Optional(Type.String({ description: "Only files that match, such as '*.ts'" })),
  ignoreCase: Type.Optional(Type.Boolean({ description: "Default: false" })),
  literal: Type.Optional(Type.Boolean({ description: "The pattern is plain text. Default: false" })),
  context: Type.Optional(Type.Number({ description: "Lines to show around each match. Default: 0" })),
  limit: Type.Optional(Type.Number({ description: "How many matches at most. Default: 100" })),
});

const localOperations: GrepOperations = {
  isDirectory: (path) => statSync(path).isDirectory(),
  readFile: (path) => readFileSync(path, "utf8"),
};

interface Match {
  path: string;
  line: number;
}

export function createGrepTool(
  cwd: string,
  { operations = localOperations }: GrepToolOptions = {},
): PiTool<GrepToolDetails | undefined> {
  return createTool<GrepArguments, GrepToolDetails | undefined>("grep", parameters, async (args, signal) => {
    refuseAborted(signal);
    const root = toPath(cwd, args.path ?? ".");
    const isDirectory = await getIsDirectory(operations, root);
    const limit = Math.max(1, args.limit ?? 100);
    const { matches, hasMore } = await search(root, args, limit, signal);
    refuseAborted(signal);
    if (matches.length === 0) return toResult("No matches found", undefined);
    const show = (path: string) => (isDirectory ? relative(root, path).split(sep).join("/") : basename(path));
    const lines = await format(operations, matches, { show, context: Math.max(0, args.context ?? 0) });
    return present(lines, hasMore ? limit : undefined);
  });
}

async function getIsDirectory(operations: GrepOperations, root: string): Promise<boolean> {
  try {
    return await operations.isDirectory(root);
  } catch (error) {
    throw new Error(`Path not found: ${root}`, { cause: error });
  }
}

/** Ends ripgrep as soon as there are enough matches. */
async function search(
  root: string,
  { pattern, glob, ignoreCase, literal }: GrepArguments,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<{ matches: Match[]; hasMore: boolean }> {
  const argv = [
    await locateRipgrep(),
    "--json",
    "--no-config",
    "--hidden",
    "--glob=!.git",
    ...(ignoreCase ? ["--ignore-case"] : []),
    ...(literal ? ["--fixed-strings"] : []),
    ...(glob ? [`--glob=${glob}`] : []),
    "--",
    pattern,
    root,
  ] as [string, ...string[]];
  const child = await createSpawn()({ argv, cwd: "/", env: {} });
  const end = () => child.signal("SIGKILL");
  signal?.addEventListener("abort", end, { once: true });
  // The signal may have been aborted while ripgrep was started.
  if (signal?.aborted) end();
  const complaint = readText(child.stderr);
  const matches: Match[] = [];
  let hasMore = false;
  for await (const line of createInterface({ input: child.stdout })) {
    const match = parseMatch(line);
    if (!match) continue;
    matches.push(match);
    if (matches.length < limit) continue;
    hasMore = true;
    end();
    break;
  }
  const status = await child.exit;
  signal?.removeEventListener("abort", end);
  if (status.kind === "exited" && status.code > 1 && matches.length === 0) {
    throw new Error((await complaint).trim() || `ripgrep exited with code ${status.code}`);
  }
  return { matches, hasMore };
}

async function readText(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function parseMatch(line: string): Match | undefined {
  const event = tryParseJson(line);
  if (!isRecord(event) || event["type"] !== "match" || !isRecord(event["data"])) return undefined;
  const { path, line_number: number } = event["data"];
  const text = isRecord(path) ? path["text"] : undefined;
  return typeof text === "string" && typeof number === "number" ? { path: text, line: number } : undefined;
}

async function format(
  operations: GrepOperations,
  matches: readonly Match[],
  { show, context }: { show: (path: string) => string; context: number },
): Promise<string[]> {
  const files = new Map<string, string[]>();
  const lines: string[] = [];
  for (const { path, line } of matches) {
    if (!files.has(path)) files.set(path, await readLines(operations, path));
    const content = files.get(path)!;
    const name = show(path);
    if (content.length === 0) lines.push(`${name}:${line}: (unable to read file)`);
    for (let number = Math.max(1, line - context); number <= Math.min(content.length, line + context); number++) {
      const text = content[number - 1]!;
      lines.push(number === line ? `${name}:${number}: ${text}` : `${name}-${number}- ${text}`);
    }
  }
  return lines;
}

/** None if the operations fail: the file may have been removed since the search. */
async function readLines(operations: GrepOperations, path: string): Promise<string[]> {
  const read = async () => (await operations.readFile(path)).split(/\r\n|\r|\n/);
  return await read().catch(() => []);
}

function present(lines: readonly string[], limitReached: number | undefined) {
  const cut = lines.map((line) => truncateLine(line));
  const linesTruncated = cut.some(({ wasTruncated }) => wasTruncated);
  const truncation = truncateHead(cut.map(({ text }) => text).join("\n"), { maxLines: Number.MAX_SAFE_INTEGER });
  const notices = [
    limitReached === undefined
      ? ""
      : `${limitReached} matches limit reached. Use limit=${limitReached * 2} for more, or refine pattern`,
    truncation.truncated ? `${formatSize(DEFAULT_MAX_BYTES)} limit reached` : "",
    linesTruncated ? `Some lines truncated to ${maxMatchLength} chars. Use read tool to see full lines` : "",
  ].filter(Boolean);
  const details: GrepToolDetails = {
    ...(limitReached !== undefined && { matchLimitReached: limitReached }),
    ...(truncation.truncated && { truncation }),
    ...(linesTruncated && { linesTruncated }),
  };
  const text = [truncation.content, ...(notices.length > 0 ? [`[${notices.join(". ")}]`] : [])].join("\n\n");
  return toResult(text, notices.length > 0 ? details : undefined);
}
