/** Writes down for a model what was said and done in a session. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { SessionEntry } from "@tau/protocol";

const maxLength = 20_000;
const maxCallLength = 300;
const maxResultLength = 800;

/** The end of a long session is kept. */
export const formatWork = (entries: readonly SessionEntry[]): string =>
  entries.flatMap(formatEntry).join("\n").slice(-maxLength);

function formatEntry(entry: SessionEntry): string[] {
  if (entry.type !== "message" || !("content" in entry.message)) return [];
  const { role, content } = entry.message as { role: string; content: unknown };
  const blocks =
    typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
  return blocks.filter(isRecord).flatMap((block) => formatBlock(role, block));
}

function formatBlock(role: string, { type, text, name, arguments: args }: Readonly<Record<string, unknown>>): string[] {
  if (type === "toolCall") return [`Call of ${String(name)}: ${JSON.stringify(args).slice(0, maxCallLength)}`];
  if (type !== "text" || typeof text !== "string") return [];
  if (role === "toolResult") return [`Result: ${text.slice(0, maxResultLength)}`];
  return [`${role === "user" ? "User" : "Assistant"}: ${text}`];
}
