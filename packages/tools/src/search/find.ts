import type { AgentToolResult } from "@tau/agent";
import { defaultLimits, definitions, type ParametersOf } from "../definitions.ts";
import { ToolsError } from "../errors.ts";
import { unlessAborted } from "../files/abort.ts";
import type { Files } from "../platform/files.ts";
import type { DescribedTool } from "../tool.ts";
import { formatBytes, keepHead, defaultMaxBytes } from "../truncate.ts";
import { parseGlob, typeArgs } from "./glob.ts";
import { createFirstNames, type FirstNames } from "./names.ts";
import { createSearcher, searchLimits, type SearchOptions } from "./ripgrep.ts";
import { adviseOnGlob, openRoot, type SearchRoot, toRelativeGlob } from "./root.ts";
import { describeUnread } from "./unread.ts";

export interface FindDetails {
  path: string;
  /** Files that are shown, and files that match. */
  shown: number;
  total: number;
  /** Why there may be more; undefined when everything is shown. */
  stoppedBy?: "limit" | "size" | "time" | "memory";
}

export interface FindOptions extends SearchOptions {
  cwd: string;
  files: Files;
}

/** More names never fit into the result: each has at least a character and a line break. */
const maxNames = defaultMaxBytes / 2;

/** Finds files by name. */
export function createFindTool({
  cwd,
  files: ownFiles,
  ...options
}: FindOptions): DescribedTool<ParametersOf<"find">, FindDetails> {
  const searcher = createSearcher(options);
  return {
    ...definitions.find,
    async execute(_id, { pattern, path = ".", limit = defaultLimits.find }, signal, _onUpdate, context) {
      const files = context?.files ?? ownFiles;
      if (pattern === "" || pattern.includes("\0")) {
        throw new ToolsError(
          "invalid_input",
          `${JSON.stringify(pattern)} is not a valid glob. Use * to list every file.`,
        );
      }
      const root = await unlessAborted(openRoot({ files, cwd }, path), signal);
      if (!root.isDirectory) throw new ToolsError("not_a_directory", `${path} is a file, not a directory.`);
      const glob = parseGlob(toRelativeGlob(root, pattern));
      const names = createFirstNames(glob, Math.min(limit, maxNames));
      // Without a target, names come without the root in front of them.
      const args = ["--files", ...typeArgs(glob)];
      const onOutput = (chunk: Buffer) => {
        names.push(chunk);
        return false;
      };
      const { cwd: directory, isInRepository } = root;
      const search = { args, cwd: directory, isInRepository, signal, onOutput };
      const end = await searcher.run(search, context?.spawn);
      if (end.kind === "refused") throw new ToolsError("invalid_input", `ripgrep refuses the search: ${end.reason}`);
      const cut = searcher.describe(end.kind);
      if (cut !== undefined && names.total === 0) {
        const code = end.kind === "memory" ? "too_large" : "timeout";
        throw new ToolsError(code, `Nothing was found; stopped ${cut}. Narrow path.`);
      }
      const notices = [
        cut === undefined ? "" : `[Stopped ${cut}; there may be more. Narrow path.]`,
        names.total === 0 ? adviseOnGlob(root, pattern) : "",
        describeUnread(end.unread, root.show),
      ];
      return present(names, { root, pattern, notices, limit: searchLimits[end.kind] });
    },
  };
}

interface Presented {
  root: SearchRoot;
  pattern: string;
  notices: string[];
  limit: "time" | "memory" | undefined;
}

function present(names: FirstNames, { root, pattern, notices, limit }: Presented): AgentToolResult<FindDetails> {
  const paths = names.sorted();
  const { total } = names;
  // The number of files has a limit of its own.
  const { text, shownLines, by } = keepHead(paths.map(root.show).join("\n"), {
    maxLines: Math.max(1, paths.length),
  });
  const shown = paths.length === 0 ? 0 : shownLines;
  const count = (files: number) => files.toLocaleString("en-US");
  const cut = by
    ? `Cut at ${formatBytes(defaultMaxBytes)}. Narrow pattern or path.`
    : "Raise limit, or narrow pattern or path.";
  const head =
    total === 0 ? `No files match ${JSON.stringify(pattern)}. Directories and links are not listed: see ls.` : "";
  const rest = shown < total ? `[${count(shown)} of ${count(total)} files shown. ${cut}]` : "";
  const stoppedBy = by ? "size" : shown < total ? "limit" : limit;
  return {
    content: [
      { type: "text", text: [text, [head, rest, ...notices].filter(Boolean).join("\n")].filter(Boolean).join("\n\n") },
    ],
    details: { path: root.path, shown, total, ...(stoppedBy && { stoppedBy }) },
  };
}
