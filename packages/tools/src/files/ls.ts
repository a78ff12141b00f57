import { join, relative } from "node:path";
import type { AgentTool } from "@tau/agent";
import { Type } from "typebox";
import { systemCode } from "../errors.ts";
import type { Files } from "../platform/files.ts";
import { keepHead } from "../truncate.ts";
import { resolveExisting } from "./path.ts";

const defaultLimit = 500;

const parameters = Type.Object({
  path: Type.Optional(Type.String({ description: "Default: the working directory" })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: `Default ${defaultLimit}` })),
});

export interface LsDetails {
  path: string;
  shownEntries: number;
  totalEntries: number;
}

type Entry = Awaited<ReturnType<Files["list"]>>[number];

/** Lists a directory. */
export function createLsTool({ cwd, files }: { cwd: string; files: Files }): AgentTool<typeof parameters, LsDetails> {
  return {
    name: "ls",
    label: "List",
    description: "List a directory, dotfiles included. Directories end in /, links show where they lead.",
    parameters,
    async execute(_id, { path: given = ".", limit = defaultLimit }, signal) {
      const path = await resolveExisting(files, cwd, given);
      const entries = (await files.list(path)).sort(byName);
      const lines: string[] = [];
      for (const entry of entries.slice(0, limit)) {
        signal?.throwIfAborted();
        lines.push(await describe(files, path, entry));
      }
      const { text, shownLines, by } = keepHead(lines.join("\n"), { maxLines: limit });
      const shownEntries = lines.length === 0 ? 0 : shownLines;
      return {
        content: [
          {
            type: "text",
            text: present(text, { shown: shownEntries, total: entries.length, isCut: by !== undefined }),
          },
        ],
        details: { path, shownEntries, totalEntries: entries.length },
      };
    },
  };
}

/** Case does not matter, unless nothing else tells two names apart. Independent of the system's language. */
function byName(one: Entry, other: Entry): number {
  return compare(one.name.toLowerCase(), other.name.toLowerCase()) || compare(one.name, other.name);
}

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

async function describe(files: Files, directory: string, entry: Entry): Promise<string> {
  const name = printable(entry.name);
  if (!entry.isSymbolicLink) return entry.isDirectory ? `${name}/` : name;
  try {
    const path = join(directory, entry.name);
    const target = await files.stat(path);
    const realPath = await files.realPath(path);
    const inside = relative(directory, realPath);
    const shown = printable(inside.startsWith("..") ? realPath : inside || ".");
    if (!target) return `${name} -> ${shown} (missing)`;
    return target.isDirectory() ? `${name}/ -> ${shown}/` : `${name} -> ${shown}`;
  } catch (error) {
    // One link that leads in a circle or where nobody may look must not hide the rest of the directory.
    return `${name} -> (cannot be followed: ${systemCode(error) ?? String(error)})`;
  }
}

/** A name may hold line breaks and escape sequences; one entry stays one line of plain text. */
const printable = (name: string) =>
  name.replaceAll(
    /[\p{Cc}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

function present(text: string, { shown, total, isCut }: { shown: number; total: number; isCut: boolean }): string {
  if (total === 0) return "(the directory is empty)";
  if (shown === total) return text;
  const left = total - shown;
  const advice = isCut ? "More does not fit: use find with a pattern." : "Raise limit, or use find with a pattern.";
  return `${text}\n\n[Showing ${shown} of ${total} entries, ${left} left out. ${advice}]`;
}
