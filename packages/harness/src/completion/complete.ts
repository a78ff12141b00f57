/** Completions of what the user is typing: commands after a slash, files after an `@`. */
import type { CompletionData } from "@tau/protocol";
import type { AgentSession } from "../agent-session/agent-session.ts";
import { listSlashCommands } from "../agent-session/slash-commands.ts";
import type { FileCompletion } from "./file-completion.ts";
import { findOpenMention } from "./mention.ts";

export interface CompletionInput {
  text: string;
  /** Where the cursor is, in UTF-16 units. */
  cursor: number;
}

const maxCommands = 100;

export async function complete(
  { session, files }: { session: AgentSession; files: FileCompletion },
  { text, cursor }: CompletionInput,
): Promise<CompletionData> {
  const before = text.slice(0, cursor);
  const command = /^\/([^\s]*)$/.exec(before)?.[1];
  if (command !== undefined) {
    const commands = listSlashCommands(session).filter(({ name }) => name.startsWith(command));
    const items = commands.map(({ name, description }) => ({ value: name, ...(description && { description }) }));
    return { from: 1, items: items.slice(0, maxCommands) };
  }
  const mention = findOpenMention(before);
  if (!mention) return { from: before.length, items: [] };
  const { values, isIncomplete } = await files.complete(mention);
  return { from: mention.from, items: values.map((value) => ({ value })), ...(isIncomplete && { incomplete: true }) };
}
