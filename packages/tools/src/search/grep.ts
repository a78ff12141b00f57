import { join } from "node:path";
import type { AgentTool, AgentToolResult } from "@tau/agent";
import { definitions, type ParametersOf } from "../definitions.ts";
import { ToolsError } from "../errors.ts";
import { unlessAborted } from "../files/abort.ts";
import type { Files } from "../platform/files.ts";
import { countLines, formatBytes, keepHead, mostBytes, mostLines } from "../truncate.ts";
import { type Glob, parseGlob, typeArgs } from "./glob.ts";
import { createMatches, type Matches, mostColumns } from "./matches.ts";
import { createRecordParser } from "./records.ts";
import { createSearcher, type Search, type SearchEnd, type Searcher, type SearchOptions } from "./ripgrep.ts";
import { inside, openRoot, type SearchRoot } from "./root.ts";
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

/** A longer pattern is no pattern, and the system would not take it as an argument. */
const mostPatternLength = 32_768;

/** Searches the content of files. */
export function createGrepTool({ cwd, files, ...options }: GrepOptions): AgentTool<ParametersOf<"grep">, GrepDetails> {
  const searcher = createSearcher(options);
  return {
    ...definitions.grep,
    async execute(_id, { path = ".", glob: globText, context = 0, limit = 100, ...query }, signal) {
      refusePattern(query);
      const root = await unlessAborted(openRoot({ files, cwd }, path), signal);
      const chosen = choose(globText, root);
      const searchWithout = async (leftOut: ReadonlySet<string>) => {
        const matches = createMatches({ limit, context });
        const parser = createRecordParser();
        const search: Search = {
          args: [...argsOf(query, context, limit), ...chosen.args, ...[...leftOut].map(without), "--", root.target],
          cwd: root.cwd,
          isInRepository: root.isInRepository,
          signal,
          onOutput(chunk) {
            for (const record of parser.push(chunk)) {
              if (chosen.accepts(record.path) && matches.add(record) === "enough") return true;
            }
            return false;
          },
        };
        return { matches, end: await searcher.run(search) };
      };
      const refused = new Set<string>();
      for (let round = 1; ; round++) {
        const { matches, end } = await searchWithout(refused);
        if (end.kind === "refused") throw refusal(end.reason, query.literal);
        const found = await unlessAborted(refusedFiles(files, root, matches.paths()), signal);
        for (const path of found) refused.add(path);
        // As if such files were not there: neither a notice, nor what else fits below the limit, may tell whether they match.
        if (found.size === 0 || round === mostRounds || refused.size > mostLeftOut) {
          return present(matches, end, { root, pattern: query.pattern, searcher, refused });
        }
      }
    },
  };
}

/** After so many searches, or so many files, what is left is only not shown. */
const mostRounds = 8;
const mostLeftOut = 200;

/** Anchored where ripgrep runs, and with nothing in it that means anything in a glob. */
const without = (path: string) => `--glob=!/${inside(path).replace(/[*?[\]{}\\!]/g, "\\$&")}`;

/** ripgrep opens the files, and nobody guards that: so whoever guards ours is asked before anything is shown. */
async function refusedFiles(files: Files, root: SearchRoot, paths: readonly string[]): Promise<Set<string>> {
  const refused = new Set<string>();
  for (const path of paths) {
    try {
      await (await files.openRead(join(root.cwd, path))).close();
    } catch (error) {
      if (error instanceof ToolsError && error.code === "denied") refused.add(path);
    }
  }
  return refused;
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
  if (pattern.length > mostPatternLength) throw fail(`it has more than ${mostPatternLength} characters`);
  if (pattern.includes("\0")) throw fail("it holds a zero byte, which text never does");
  if (pattern.includes("\n")) throw fail(oneByOne);
}

const argsOf = ({ pattern, ignoreCase, literal }: Query, context: number, limit: number): string[] => [
  "--no-heading",
  "--with-filename",
  "--line-number",
  "--no-context-separator",
  "--binary",
  // In bytes. A character has at most four, so nothing that is shown is lost.
  `--max-columns=${mostColumns * 4}`,
  "--max-columns-preview",
  // One more than will be shown tells whether there are more.
  `--max-count=${Math.min(limit, mostLines) + 1}`,
  `--context=${Math.min(context, mostLines)}`,
  ...(ignoreCase ? ["--ignore-case"] : []),
  ...(literal ? ["--fixed-strings"] : []),
  `--regexp=${pattern}`,
];

/** Which files count. A file that was named itself always does. */
function choose(text: string | undefined, root: SearchRoot): { args: string[]; accepts: (path: string) => boolean } {
  const all = { args: [], accepts: () => true };
  if (text === undefined || text === "" || !root.isDirectory) return all;
  if (text.includes("\0")) throw new ToolsError("invalid_input", `${JSON.stringify(text)} is not a valid glob.`);
  if (text.startsWith("!")) return { ...all, args: [excluding(text)] };
  const glob: Glob = parseGlob(text);
  let last = { path: "", isAccepted: false };
  return {
    args: typeArgs(glob),
    accepts(path) {
      // The matches of a file come one after the other.
      if (path !== last.path) last = { path, isAccepted: glob.matches(inside(path)) };
      return last.isAccepted;
    },
  };
}

/** What a glob excludes needs no care: ripgrep's own can only exclude more. */
function excluding(text: string): string {
  if (/^!\s*$/.test(text)) {
    throw new ToolsError("invalid_input", `The glob ${JSON.stringify(text)} names nothing to exclude. Use e.g. !*.ts.`);
  }
  parseGlob(text.slice(1));
  return `--glob=${text}`;
}

function refusal(reason: string, literal = false): ToolsError {
  if (reason.startsWith('the literal "\\n" is not allowed')) return fail(oneByOne);
  // What follows the first paragraph advises options that the tool does not have.
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

/** Why there may be more than was found. */
const endings = { done: undefined, enough: undefined, timeout: "time", memory: "memory" } as const;

function present(
  matches: Matches,
  end: Exclude<SearchEnd, { kind: "refused" }>,
  {
    root,
    pattern,
    searcher,
    refused,
  }: { root: SearchRoot; pattern: string; searcher: Searcher; refused: ReadonlySet<string> },
): AgentToolResult<GrepDetails> {
  const { lines, binary, hasCutLines, stoppedBy } = matches.result(root.show, refused);
  const shown = keepHead(lines.map(({ text }) => text).join("\n"));
  const stopped = end.kind === "timeout" || end.kind === "memory" ? searcher.describe(end.kind) : undefined;
  if (stopped !== undefined && lines.length === 0) {
    throw new ToolsError(
      end.kind === "memory" ? "too_large" : "timeout",
      `Nothing was found; stopped ${stopped}. Narrow path or glob, or simplify the pattern.`,
    );
  }
  const count = lines.slice(0, shown.shownLines).filter(({ isMatch }) => isMatch).length;
  const notices: string[] = [];
  if (lines.length === 0) notices.push(`No matches for ${JSON.stringify(pattern)}.`);
  if (shown.by) {
    const size = shown.by === "lines" ? countLines(mostLines) : formatBytes(mostBytes);
    notices.push(`[Cut at ${size}; there is more. Narrow pattern, path or glob, or use less context.]`);
  } else if (stoppedBy === "limit") {
    notices.push(
      `[${count} ${count === 1 ? "match" : "matches"} shown; there are more. Raise limit, or narrow pattern, path or glob.]`,
    );
  }
  if (stopped !== undefined) notices.push(`[Stopped ${stopped}; there may be more. Narrow path or glob.]`);
  if (hasCutLines) notices.push(`[Lines are cut after ${mostColumns} characters. See them whole with read.]`);
  if (binary.names.length > 0) {
    const others = binary.hasMore ? ", …" : "";
    notices.push(`[Binary files match too, and are not shown: ${binary.names.join(", ")}${others}]`);
  }
  notices.push(describeUnread(end.unread, root.show));
  const reason = shown.by ? "size" : (stoppedBy ?? endings[end.kind]);
  return {
    content: [{ type: "text", text: [shown.text, notices.filter(Boolean).join("\n")].filter(Boolean).join("\n\n") }],
    details: { path: root.path, matches: count, ...(reason && { stoppedBy: reason }) },
  };
}
