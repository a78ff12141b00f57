import { join, relative } from "node:path";
import type { AgentToolResult } from "@tau/agent";
import type { ToolArguments } from "@tau/ai";
import { defaultLimits, definitions, type ParametersOf } from "../definitions.ts";
import { systemCode, ToolsError } from "../errors.ts";
import type { Files } from "../platform/files.ts";
import type { DescribedTool } from "../tool.ts";
import { keepHead } from "../truncate.ts";
import { refuseAborted, unlessAborted } from "./abort.ts";
import { showName } from "./show-name.ts";
import { resolveExisting } from "./path.ts";

export interface LsDetails {
  path: string;
  shownEntries: number;
  totalEntries: number;
}

type Entry = Awaited<ReturnType<Files["list"]>>[number];

/** Lists a directory. */
export function createLsTool({
  cwd,
  files: ownFiles,
}: {
  cwd: string;
  files: Files;
}): DescribedTool<ParametersOf<"ls">, LsDetails> {
  const list = async (
    files: Files,
    { path: typed = ".", limit = defaultLimits.ls }: ToolArguments<ParametersOf<"ls">>,
    signal: AbortSignal | undefined,
  ): Promise<AgentToolResult<LsDetails>> => {
    const path = await resolveExisting(files, cwd, typed);
    const entries = (await files.list(path)).sort(byName);
    const lines: string[] = [];
    for (const entry of entries.slice(0, limit)) {
      refuseAborted(signal);
      lines.push(await describe(files, path, entry));
    }
    const { text, shownLines, by } = keepHead(lines.join("\n"), { maxLines: limit });
    const shown = lines.length === 0 ? 0 : shownLines;
    const total = entries.length;
    return {
      content: [{ type: "text", text: present(text, { shown, total, isCut: by !== undefined }) }],
      details: { path, shownEntries: shown, totalEntries: total },
    };
  };
  return {
    ...definitions.ls,
    execute: (_id, args, signal, _onUpdate, context) =>
      unlessAborted(list(context?.files ?? ownFiles, args, signal), signal),
  };
}

/** Case does not matter, unless nothing else tells two names apart. Independent of the system's language. */
function byName(a: Entry, b: Entry): number {
  return compare(a.name.toLowerCase(), b.name.toLowerCase()) || compare(a.name, b.name);
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

async function describe(files: Files, directory: string, entry: Entry): Promise<string> {
  const name = showName(entry.name);
  const path = join(directory, entry.name);
  if (!entry.isSymbolicLink) {
    const shown = entry.isDirectory ? `${name}/` : name;
    return (await isMisread(files, path)) ? `${shown} (the name is not UTF-8: use a wildcard in bash)` : shown;
  }
  try {
    const target = await files.stat(path);
    const realPath = await files.realPath(path);
    const inside = relative(directory, realPath);
    const shown = showName(inside.startsWith("..") ? realPath : inside || ".");
    if (!target) return `${name} -> ${shown} (missing)`;
    return target.isDirectory() ? `${name}/ -> ${shown}/` : `${name} -> ${shown}`;
  } catch (error) {
    // A link that leads in a circle or may not be followed must not hide the rest of the directory.
    const cause = error instanceof ToolsError ? error.cause : error;
    return `${name} -> (cannot be followed: ${systemCode(cause) ?? (error as Error).message})`;
  }
}

/** Whether a name that seems to hold U+FFFD really holds bytes that are not UTF-8: then it cannot be opened by it. */
async function isMisread(files: Files, path: string): Promise<boolean> {
  if (!path.includes("\ufffd")) return false;
  return await files.stat(path).then(
    (stats) => stats === undefined,
    // A file that may not be looked at exists.
    () => false,
  );
}

function present(text: string, { shown, total, isCut }: { shown: number; total: number; isCut: boolean }): string {
  if (total === 0) return "(the directory is empty)";
  if (shown === total) return text;
  const left = total - shown;
  const advice = isCut ? "More does not fit: use find with a pattern." : "Raise limit, or use find with a pattern.";
  return `${text}\n\n[Showing ${shown} of ${total} entries, ${left} left out. ${advice}]`;
}
