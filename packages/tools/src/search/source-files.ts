/** Lists the files that a search of another kind looks at: the same as `grep` would. */
import { join } from "node:path";
import type { Clock } from "@tau/ai";
import { ToolsError } from "../errors.ts";
import { unlessAborted } from "../files/abort.ts";
import type { Files } from "../platform/files.ts";
import type { Spawn } from "../platform/spawn.ts";
import { type Glob, parseGlob } from "./glob.ts";
import { createFirstNames } from "./names.ts";
import { createSearcher } from "./ripgrep.ts";
import { inside, openRoot, type SearchRoot, toRelativeGlob } from "./root.ts";
import { describeUnread } from "./unread.ts";

export interface SourceQuery {
  /** Absolute, or relative to the working directory. */
  path: string;
  /** The endings of names, without the dot. */
  extensions: readonly string[];
  glob?: string | undefined;
  /** A text that every file of interest has. */
  literal?: string | undefined;
  maxFiles: number;
}

export interface SourceFiles {
  /** Absolute, in the order of their names. A file may still be refused when it is read. */
  paths: string[];
  /** Whether the query named a file and not a directory. */
  isFile: boolean;
  /** How a path is named in results. */
  show(path: string): string;
  /** Whether these are all: neither the limit nor the time was reached. */
  isWhole: boolean;
  /** For the model: why some files are missing, if any are. */
  notices: string[];
}

/** Files that `.gitignore` excludes, links and what is in `.git` are left out. A single file is taken as it is. */
export async function listSourceFiles(
  ports: { cwd: string; files: Files; spawn: Spawn; clock?: Clock },
  { path, extensions, glob: globText, literal, maxFiles }: SourceQuery,
  signal?: AbortSignal,
): Promise<SourceFiles> {
  const root = await unlessAborted(openRoot(ports, path), signal);
  const toPath = (name: string) => join(root.cwd, inside(name));
  const show = (shown: string) => root.show(shown.slice(root.cwd.length + 1));
  if (!root.isDirectory) return { paths: [toPath(root.target)], isFile: true, show, isWhole: true, notices: [] };
  const glob = parseChoice(globText, root);
  const names = createFirstNames({ ...glob, matches: (name) => glob.matches(inside(name)) }, maxFiles);
  const searcher = createSearcher({ spawn: ports.spawn, ...(ports.clock && { clock: ports.clock }) });
  const kind = literal === undefined ? ["--files"] : ["--files-with-matches", "--fixed-strings", `--regexp=${literal}`];
  const end = await searcher.run({
    // As types: with `--glob`, ignored files would be searched too.
    args: [
      ...kind,
      ...extensions.map((extension) => `--type-add=wanted:*.${extension}`),
      "--type=wanted",
      "--",
      root.target,
    ],
    cwd: root.cwd,
    isInRepository: root.isInRepository,
    signal,
    onOutput(chunk) {
      names.push(chunk);
      return false;
    },
  });
  if (end.kind === "refused") throw new ToolsError("invalid_input", `ripgrep refuses the search: ${end.reason}`);
  const cut = searcher.describe(end.kind);
  const left = names.total - maxFiles;
  const notices = [
    cut === undefined ? "" : `[Stopped ${cut}; there may be more. Narrow path.]`,
    left > 0 ? `[${left} more files were not searched: at most ${maxFiles} are. Narrow path or glob.]` : "",
    describeUnread(end.unread, root.show),
  ];
  return {
    paths: names.sorted().map(toPath),
    isFile: false,
    show,
    isWhole: cut === undefined && left <= 0,
    notices: notices.filter((text) => text !== ""),
  };
}

/** With `!` before it, a glob chooses what it does not match. */
function parseChoice(text: string | undefined, root: SearchRoot): Glob {
  if (text === undefined) return parseGlob("*");
  if (!text.startsWith("!")) return parseGlob(toRelativeGlob(root, text));
  const excluded = parseGlob(toRelativeGlob(root, text.slice(1)));
  return { matches: (path) => !excluded.matches(path), matchesAll: false, baseNames: undefined };
}
