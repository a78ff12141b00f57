/** Lists entries for a model that has to name one. Pure. */
import type { SessionEntry } from "./entry.ts";

const maxLength = 60;

/**
 * Returns a line for each entry that was said or summarised, of at most the `limit` latest: id, kind and first words, or the
 * name of the tool.
 */
export const describeEntries = (entries: readonly SessionEntry[], limit = 20): string[] =>
  entries.flatMap((entry) => describeEntry(entry) ?? []).slice(-limit);

function describeEntry(entry: SessionEntry): string | undefined {
  const kind = entry.type === "message" ? entry.message?.role : entry.type;
  const words = getWords(entry);
  if (kind === undefined || words === undefined) return undefined;
  const line = words.replace(/\s+/g, " ").trim();
  const shown = line.length > maxLength ? `${line.slice(0, maxLength).toWellFormed()}…` : line;
  return `${entry.id} ${kind}: ${shown}`;
}

/** Undefined for an entry that nobody would go to. Entries are not validated. */
function getWords(entry: SessionEntry): string | undefined {
  switch (entry.type) {
    case "message": {
      const { content, command, toolName } = entry.message as Partial<
        Record<"content" | "command" | "toolName", unknown>
      >;
      return getContentWords(toolName ?? content ?? command);
    }
    case "custom_message":
      return getContentWords(entry.content);
    case "compaction":
    case "branch_summary":
      return String(entry.summary);
    default:
      return undefined;
  }
}

function getContentWords(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  const blocks = content as ({ type?: unknown; text?: unknown; name?: unknown } | null)[];
  return blocks
    .flatMap((block) => (block?.type === "toolCall" ? `[calls ${block.name}]` : (block?.text ?? [])))
    .join(" ");
}
