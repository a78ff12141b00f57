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

export type CompletionRequest =
  | { kind: "none" }
  | { kind: "command"; from: number; prefix: string }
  | { kind: "file"; from: number; prefix: string };

/** What is to be completed at the cursor. Pure. */
export function findCompletion({ text, cursor }: CompletionInput): CompletionRequest {
  const before = text.slice(0, cursor);
  const slash = /^\/([^\s]*)$/.exec(before);
  if (slash) return { kind: "command", from: 1, prefix: slash[1]! };
  const mention = /(?:^|\s)@([^\s"]*|"[^"]*)$/.exec(before);
  if (!mention) return { kind: "none" };
  const written = mention[1]!;
  return { kind: "file", from: cursor - written.length, prefix: written.replace(/^"/, "") };
}

const maxItems = 100;

export async function complete(session: AgentSession, input: CompletionInput): Promise<CompletionData> {
  const request = findCompletion(input);
  switch (request.kind) {
    case "none":
      return { from: Math.min(input.cursor, input.text.length), items: [] };
    case "command": {
      const commands = listSlashCommands(session).filter(({ name }) => name.startsWith(request.prefix));
      const items = commands.map(({ name, description }) => ({ value: name, ...(description && { description }) }));
      return { from: request.from, items: items.slice(0, maxItems) };
    }
    case "file":
      return { from: request.from, items: await listFiles(session.cwd, request.prefix, nodeFileSystem) };
  }
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
