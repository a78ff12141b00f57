/** How many entries at the end of a session fill the screen. Pure. */
import type { SessionEntry } from "@tau/protocol";
import { getShownText } from "./blocks/user-message.ts";

/** The size of a screen. */
interface Room {
  columns: number;
  rows: number;
}

/** An estimate, and not too small: of most entries, more rows are drawn than are counted here. */
export function countTail(entries: readonly SessionEntry[], { columns, rows }: Room): number {
  let count = 0;
  for (let room = rows; room > 0 && count < entries.length; count++) {
    room -= countRows(entries[entries.length - 1 - count] as SessionEntry, columns);
  }
  return count;
}

/** Entries that are drawn as a note or not at all count as nothing, and so do results, whose calls may not be shown. */
function countRows(entry: SessionEntry, columns: number): number {
  if (entry.type !== "message" || entry.silent) return 0;
  const { message } = entry;
  if (message.role === "user") return 1 + Math.ceil(getShownText(message.content).length / columns);
  if (message.role !== "assistant") return 0;
  const texts = message.content.map((block) => (block.type === "text" ? block.text.length : 0));
  return 1 + Math.ceil(texts.reduce((sum, length) => sum + length, 0) / columns);
}
