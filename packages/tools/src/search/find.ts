import type { AgentTool, AgentToolResult } from "@tau/agent";
import { Type } from "typebox";
import { ToolsError } from "../errors.ts";
import type { Files } from "../platform/files.ts";
import { formatBytes, keepHead, mostBytes } from "../truncate.ts";
import { parseGlob, typeArgs } from "./glob.ts";
import { createSearcher, type SearchOptions } from "./ripgrep.ts";
import { openRoot, type SearchRoot } from "./root.ts";

const parameters = Type.Object({
  pattern: Type.String({ description: "Glob: *.ts matches names at any depth, src/**/*.ts paths" }),
  path: Type.Optional(Type.String({ description: "Directory" })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: "Most files, default 1000" })),
});

export interface FindDetails {
  path: string;
  /** Files that are shown, and files that match. */
  shown: number;
  total: number;
  /** Why there may be more; undefined when everything is shown. */
  stoppedBy?: "limit" | "size" | "time";
}

export interface FindOptions extends SearchOptions {
  cwd: string;
  files: Files;
}

/** Finds files by name. */
export function createFindTool({ cwd, files, ...options }: FindOptions): AgentTool<typeof parameters, FindDetails> {
  const searcher = createSearcher(options);
  return {
    name: "find",
    label: "Find",
    description: "Find files by glob. Respects .gitignore, includes hidden files.",
    parameters,
    async execute(_id, { pattern, path = ".", limit = 1_000 }, signal) {
      if (pattern === "" || pattern.includes("\0")) {
        throw new ToolsError(
          "invalid_input",
          `${JSON.stringify(pattern)} is not a valid glob. Use * to list every file.`,
        );
      }
      const glob = parseGlob(pattern);
      const root = await openRoot({ files, cwd }, path);
      if (!root.isDirectory) throw new ToolsError("not_a_directory", `${path} is a file, not a directory.`);
      const found = createFirst(limit);
      const names = createNames((name) => {
        if (glob.matches(name)) found.add(name);
      });
      // Without a target, names come without the root in front of them.
      const args = ["--files", ...typeArgs(glob)];
      const end = await searcher.run({ args, cwd: root.cwd, signal, onOutput: names });
      if (end.kind === "refused") throw new ToolsError("invalid_input", `ripgrep refuses the search: ${end.reason}`);
      const seconds = `${searcher.timeLimitMs / 1_000} s`;
      if (end.kind === "timeout" && found.total === 0) {
        throw new ToolsError("timeout", `Nothing was found within ${seconds}. Narrow path.`);
      }
      const stopped = end.kind === "timeout" ? `[Stopped after ${seconds}; there may be more. Narrow path.]` : "";
      const partial = end.kind === "done" && end.isPartial ? "[Some directories could not be read.]" : "";
      return present(found, { root, pattern, notices: [stopped, partial] });
    },
  };
}

/** Keeps the first `limit` names in order, however many there are. */
function createFirst(limit: number) {
  let kept: string[] = [];
  let total = 0;
  let last: string | undefined;
  const settle = () => {
    kept = kept.sort().slice(0, limit);
    if (kept.length === limit) last = kept[limit - 1];
  };
  return {
    add(name: string) {
      total++;
      if (last !== undefined && name > last) return;
      kept.push(name);
      if (kept.length >= 2 * limit + 1_000) settle();
    },
    get total() {
      return total;
    },
    sorted() {
      settle();
      return kept;
    },
  };
}

/** Takes names apart that end with a zero byte each. */
function createNames(onName: (name: string) => void): (chunk: Buffer) => boolean {
  let pending = Buffer.alloc(0);
  return (chunk) => {
    const data = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
    const end = data.lastIndexOf(0);
    if (end >= 0) for (const name of data.toString("utf8", 0, end).split("\0")) onName(name);
    pending = Buffer.from(data.subarray(end + 1));
    return false;
  };
}

function present(
  found: ReturnType<typeof createFirst>,
  { root, pattern, notices }: { root: SearchRoot; pattern: string; notices: string[] },
): AgentToolResult<FindDetails> {
  const paths = found.sorted();
  const { total } = found;
  // The number of files has a limit of its own.
  const { text, shownLines, by } = keepHead(paths.map(root.show).join("\n"), {
    maxLines: Math.max(1, paths.length),
  });
  const shown = paths.length === 0 ? 0 : shownLines;
  const count = (files: number) => files.toLocaleString("en-US");
  const cut = by
    ? `Cut at ${formatBytes(mostBytes)}. Narrow pattern or path.`
    : "Raise limit, or narrow pattern or path.";
  const head = total === 0 ? `No files match ${JSON.stringify(pattern)}.` : "";
  const rest = shown < total ? `[${count(shown)} of ${count(total)} files shown. ${cut}]` : "";
  const stoppedBy = by ? "size" : shown < total ? "limit" : notices[0] ? "time" : undefined;
  return {
    content: [
      { type: "text", text: [text, [head, rest, ...notices].filter(Boolean).join("\n")].filter(Boolean).join("\n\n") },
    ],
    details: { path: root.path, shown, total, ...(stoppedBy && { stoppedBy }) },
  };
}
