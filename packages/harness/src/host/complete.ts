/** Completions of what the user is typing: commands after a slash, files after an `@`. */
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { orUndefined } from "../durable-file.ts";
import type { CompletionData } from "@tau/protocol";
import type { AgentSession } from "../agent-session/agent-session.ts";
import { listSlashCommands } from "./data.ts";

export interface CompletionInput {
  text: string;
  /** Where the cursor is, in UTF-16 units. */
  cursor: number;
}

const maxItems = 100;

export async function complete(session: AgentSession, { text, cursor }: CompletionInput): Promise<CompletionData> {
  const before = text.slice(0, cursor);
  const command = /^\/([^\s]*)$/.exec(before)?.[1];
  if (command !== undefined) {
    const commands = listSlashCommands(session).filter(({ name }) => name.startsWith(command));
    const items = commands.map(({ name, description }) => ({ value: name, ...(description && { description }) }));
    return { from: 1, items: items.slice(0, maxItems) };
  }
  const mention = /(?:^|\s)@([^\s"]*|"[^"]*)$/.exec(before)?.[1];
  if (mention === undefined) return { from: Math.min(cursor, text.length), items: [] };
  const items = await listFiles(session.cwd, mention.replace(/^"/, ""), nodeFileSystem);
  return { from: cursor - mention.length, items };
}

async function listFiles(cwd: string, prefix: string, fs: FileSystem): Promise<{ value: string }[]> {
  const isDirectory = prefix === "" || prefix.endsWith("/");
  const directory = isDirectory ? prefix : dirname(prefix) === "." ? "" : `${dirname(prefix)}/`;
  const start = isDirectory ? "" : basename(prefix);
  const expanded = directory.startsWith("~/") ? join(homedir(), directory.slice(2)) : directory;
  const entries = (await orUndefined(fs.readdir(resolve(cwd, expanded)))) ?? [];
  return entries
    .filter(({ name }) => name.startsWith(start) && (start.startsWith(".") || !name.startsWith(".")))
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .slice(0, maxItems)
    .map((entry) => ({ value: quote(`${directory}${entry.name}${entry.isDirectory ? "/" : ""}`) }));
}

/** A mention with a space in it is quoted. */
const quote = (path: string): string => (/\s/.test(path) ? `"${path}"` : path);
