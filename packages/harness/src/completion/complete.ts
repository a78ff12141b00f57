/** Completions of what the user is typing: commands after a slash, files after an `@`, and paths if asked for. */
import type { CompletionData } from "@tau/protocol";
import type { AgentSession } from "../agent-session/agent-session.ts";
import { listSlashCommands } from "../prompt/slash-commands.ts";
import type { FileCompletion } from "./file-completion.ts";
import { findOpenMention, findOpenPath } from "./mention.ts";
import { findByName } from "./find-by-name.ts";

interface CompletionInput {
  text: string;
  /** Where the cursor is, in UTF-16 units. */
  cursor: number;
  /** Whether a word that is neither a command nor a mention is completed as a path. Default false. */
  paths?: boolean;
}

const maxCommands = 100;

export async function complete(
  { session, files }: { session: AgentSession; files: FileCompletion },
  { text, cursor, paths = false }: CompletionInput,
): Promise<CompletionData> {
  const before = text.slice(0, cursor);
  const command = /^\/([^\s]*)$/.exec(before)?.[1];
  if (command !== undefined) {
    const commands = findByName(listSlashCommands(session), command);
    const items = commands.map(({ name, description, argumentHint }) => {
      const shown = [argumentHint, description].filter(Boolean).join(" · ");
      return { value: name, ...(shown !== "" && { description: shown }) };
    });
    return { from: 1, items: items.slice(0, maxCommands) };
  }
  const mention = findOpenMention(before);
  const open = mention ?? (paths ? findOpenPath(before) : undefined);
  if (!open) return { from: before.length, items: [] };
  const [{ values, isIncomplete }, named] = await Promise.all([
    mention ? files.complete(mention) : files.completePath(open),
    mention && session.mentions.complete(mention),
  ]);
  return {
    from: open.from,
    items: [...(named?.items ?? []), ...values.map((value) => ({ value }))],
    ...((isIncomplete || named?.incomplete) && { incomplete: true }),
  };
}
