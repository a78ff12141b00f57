import { join } from "node:path";
import type { AgentToolResult } from "@tau/agent";
import { defaultLimits, definitions, type ParametersOf } from "../definitions.ts";
import { systemCode, ToolsError } from "../errors.ts";
import { unlessAborted } from "../files/abort.ts";
import type { Files } from "../platform/files.ts";
import type { DescribedTool } from "../tool.ts";
import { countLines, formatBytes, keepHead, defaultMaxBytes, defaultMaxLines } from "../truncate.ts";
import { parseGlob, typeArgs } from "./glob.ts";
import { createMatches, type Matches, maxColumns } from "./matches.ts";
import { createRecordParser } from "./records.ts";
import {
  createSearcher,
  type Search,
  type SearchEnd,
  type Searcher,
  searchLimits,
  type SearchOptions,
} from "./ripgrep.ts";
import { adviseOnGlob, inside, openRoot, type SearchRoot, toRelativeGlob } from "./root.ts";
import { describeUnread } from "./unread.ts";

export interface GrepDetails {
  path: string;
  /** Matching lines that are shown. */
  matches: number;
  /** Why there may be more; undefined when everything is shown. */
  stoppedBy?: "limit" | "size" | "time" | "memory";
}

export interface GrepOptions extends SearchOptions {
  cwd: string;
  files: Files;
}

/** The system would not accept a longer argument. */
const maxPatternLength = 32_768;

/** Searches the content of files. */
export function createGrepTool({
  cwd,
  files: ownFiles,
  ...options
}: GrepOptions): DescribedTool<ParametersOf<"grep">, GrepDetails> {
  const searcher = createSearcher(options);
  return {
    ...definitions.grep,
    async execute(_id, args, signal, _onUpdate, callContext) {
      const { path = ".", glob: globText, context = 0, limit = defaultLimits.grep, ...query } = args;
      const files = callContext?.files ?? ownFiles;
      refusePattern(query);
      const root = await unlessAborted(openRoot({ files, cwd }, path), signal);
      const chosen = chooseFiles(globText, root);
      const matches = createMatches({ limit, context });
      const parser = createRecordParser();
      const mayShow = rememberLast((reported) => mayRead(files, join(root.cwd, reported)));
      const search: Search = {
        args: [...toArgs(query, context, limit), ...chosen.args, "--", root.target],
        cwd: root.cwd,
        isInRepository: root.isInRepository,
        signal,
        async onOutput(chunk) {
          for (const record of parser.push(chunk)) {
            if (!chosen.accepts(record.path) || !matches.wants(record)) continue;
            if ((await mayShow(record.path)) && matches.add(record) === "enough") return true;
          }
          return false;
        },
      };
      const end = await searcher.run(search, callContext?.spawn);
      if (end.kind === "refused") throw refusal(end.reason, query.literal);
      return present(matches, end, { root, pattern: query.pattern, glob: globText, searcher });
    },
  };
}

/** Remembers what the last path gave: the matches of a file come one after the other. */
function rememberLast<T>(compute: (path: string) => T): (path: string) => T {
  let last: { path: string; result: T } | undefined;
  return (path) => {
    if (last?.path !== path) last = { path, result: compute(path) };
    return last.result;
  };
}

/**
 * ripgrep opens files without a guard, so each file with a match is opened through `files` before the match is used. A file
 * that may not be read is treated as missing, also for the limit: otherwise a model could learn its content by searching
 * again and again. False for a file that cannot be checked.
 */
async function mayRead(files: Files, path: string): Promise<boolean> {
  try {
    await (await files.openRead(path)).close();
    return true;
  } catch (error) {
    if (!(error instanceof ToolsError) && systemCode(error) === undefined) throw error;
    // A name that is not UTF-8 cannot be opened by its text, but the guard can be asked about it.
    const isOddName = error instanceof ToolsError && error.code === "not_found" && path.includes("\uFFFD");
    return (
      isOddName &&
      (await files.realPath(path, "read").then(
        () => true,
        () => false,
      ))
    );
  }
}

interface Query {
  pattern: string;
  ignoreCase?: boolean;
  literal?: boolean;
}

const fail = (why: string) => new ToolsError("invalid_input", `This pattern cannot be searched for: ${why}.`);
const oneByOne = "lines are searched one by one; search for one of its lines";

function refusePattern({ pattern }: Query): void {
  if (pattern === "") throw fail("it is empty, and would match every line");
  if (pattern.length > maxPatternLength) throw fail(`it has more than ${maxPatternLength} characters`);
  if (pattern.includes("\0")) throw fail("it holds a zero byte, which text never does");
  if (pattern.includes("\n")) throw fail(oneByOne);
}

const toArgs = ({ pattern, ignoreCase, literal }: Query, context: number, limit: number): string[] => [
  "--no-heading",
  "--with-filename",
  "--line-number",
  "--no-context-separator",
  "--binary",
  // In bytes. A character has at most four, so nothing that is shown is lost.
  `--max-columns=${maxColumns * 4}`,
  "--max-columns-preview",
  // One more than will be shown tells whether there are more.
  `--max-count=${Math.min(limit, defaultMaxLines) + 1}`,
  `--context=${Math.min(context, defaultMaxLines)}`,
  ...(ignoreCase ? ["--ignore-case"] : []),
  ...(literal ? ["--fixed-strings"] : []),
  `--regexp=${pattern}`,
];

/** Which files are searched. A file that `path` names itself always is. */
function chooseFiles(
  text: string | undefined,
  root: SearchRoot,
): { args: string[]; accepts: (path: string) => boolean } {
  const all = { args: [], accepts: () => true };
  if (text === undefined || text === "" || !root.isDirectory) return all;
  if (text.includes("\0")) throw new ToolsError("invalid_input", `${JSON.stringify(text)} is not a valid glob.`);
  if (text.startsWith("!")) return { ...all, args: [excluding(`!${toRelativeGlob(root, text.slice(1))}`)] };
  const glob = parseGlob(toRelativeGlob(root, text));
  return { args: typeArgs(glob), accepts: rememberLast((path) => glob.matches(inside(path))) };
}

/** ripgrep's own globs can be used to exclude: they can only exclude more. */
function excluding(text: string): string {
  if (/^!\s*$/.test(text)) {
    throw new ToolsError("invalid_input", `The glob ${JSON.stringify(text)} names nothing to exclude. Use e.g. !*.ts.`);
  }
  parseGlob(text.slice(1));
  return `--glob=${text}`;
}

function refusal(reason: string, literal = false): ToolsError {
  if (reason.startsWith('the literal "\\n" is not allowed')) return fail(oneByOne);
  // The other paragraphs recommend options that the tool does not have.
  const [what = reason] = reason.split("\n\n");
  return new ToolsError(
    "invalid_input",
    [`ripgrep refuses the search: ${what}`, ...adviceOn(reason, literal)].join("\n"),
  );
}

function adviceOn(reason: string, literal: boolean): string[] {
  if (reason.startsWith("compiled regex exceeds")) return ["Use fewer or smaller repetitions."];
  const isSyntax = reason.startsWith("regex parse error") && !literal;
  return isSyntax ? ["Set literal: true to search for the pattern as plain text."] : [];
}

interface Presented {
  root: SearchRoot;
  pattern: string;
  glob: string | undefined;
  searcher: Searcher;
}

function present(
  matches: Matches,
  end: Exclude<SearchEnd, { kind: "refused" }>,
  { root, pattern, glob = "", searcher }: Presented,
): AgentToolResult<GrepDetails> {
  const { lines, binary, hasCutLines, stoppedBy } = matches.result(root.show);
  const shown = keepHead(lines.map(({ text }) => text).join("\n"));
  const stopped = searcher.describe(end.kind);
  if (stopped !== undefined && lines.length === 0) {
    throw new ToolsError(
      end.kind === "memory" ? "too_large" : "timeout",
      `Nothing was found; stopped ${stopped}. Narrow path or glob, or simplify the pattern.`,
    );
  }
  const count = lines.slice(0, shown.shownLines).filter(({ isMatch }) => isMatch).length;
  const notices: string[] = [];
  if (lines.length === 0) notices.push(`No matches for ${JSON.stringify(pattern)}.`, adviseOnGlob(root, glob));
  if (shown.by) {
    const size = shown.by === "lines" ? countLines(defaultMaxLines) : formatBytes(defaultMaxBytes);
    notices.push(`[Cut at ${size}; there is more. Narrow pattern, path or glob, or use less context.]`);
  } else if (stoppedBy === "limit") {
    notices.push(
      `[${count} ${count === 1 ? "match" : "matches"} shown; there are more. Raise limit, or narrow pattern, path or glob.]`,
    );
  }
  if (stopped !== undefined) notices.push(`[Stopped ${stopped}; there may be more. Narrow path or glob.]`);
  if (hasCutLines) notices.push(`[Lines are cut after ${maxColumns} characters. See them whole with read.]`);
  if (binary.names.length > 0) {
    const others = binary.hasMore ? ", …" : "";
    notices.push(`[Binary files match too, and are not shown: ${binary.names.join(", ")}${others}]`);
  }
  notices.push(describeUnread(end.unread, root.show));
  const reason = shown.by ? "size" : (stoppedBy ?? searchLimits[end.kind]);
  return {
    content: [{ type: "text", text: [shown.text, notices.filter(Boolean).join("\n")].filter(Boolean).join("\n\n") }],
    details: { path: root.path, matches: count, ...(reason && { stoppedBy: reason }) },
  };
}
