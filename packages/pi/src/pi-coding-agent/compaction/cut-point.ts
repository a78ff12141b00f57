/** Where a branch is cut in two for a compaction. */
import type { SessionEntry } from "@tau/protocol";
import { sessionEntryToContextMessages } from "../session/context.ts";
import { estimateTokens } from "./tokens.ts";

interface CutPointResult {
  firstKeptEntryIndex: number;
  /** The message that begins the turn that is split; -1 if none is. */
  turnStartIndex: number;
  isSplitTurn: boolean;
}

/** Never a result of a tool, which must stay with its call. */
function isCutPoint(entry: SessionEntry): boolean {
  if (entry.type === "branch_summary" || entry.type === "custom_message") return true;
  return entry.type === "message" && entry.message.role !== "toolResult";
}

function isTurnStart(entry: SessionEntry): boolean {
  if (entry.type === "branch_summary" || entry.type === "custom_message") return true;
  return entry.type === "message" && (entry.message.role === "user" || entry.message.role === "bashExecution");
}

/** -1 if no turn begins between `startIndex` and the entry. */
export function findTurnStartIndex(entries: readonly SessionEntry[], entryIndex: number, startIndex: number): number {
  for (let index = entryIndex; index >= startIndex; index--) if (isTurnStart(entries[index]!)) return index;
  return -1;
}

/** Keeps about `keepRecentTokens` at the end of the entries from `startIndex` to before `endIndex`. */
export function findCutPoint(
  entries: readonly SessionEntry[],
  startIndex: number,
  endIndex: number,
  keepRecentTokens: number,
): CutPointResult {
  const cuts = Array.from({ length: endIndex - startIndex }, (_, offset) => startIndex + offset).filter((index) =>
    isCutPoint(entries[index]!),
  );
  if (cuts.length === 0) return { firstKeptEntryIndex: startIndex, turnStartIndex: -1, isSplitTurn: false };
  const limit = findLimit(entries, startIndex, endIndex, keepRecentTokens);
  // Results that are too long by themselves stay with the call before them.
  const cut = limit === undefined ? cuts[0]! : (cuts.find((index) => index >= limit) ?? cuts.at(-1)!);
  const first = includeBefore(entries, cut, startIndex);
  const turnStartIndex = isTurnStart(entries[first]!) ? -1 : findTurnStartIndex(entries, first, startIndex);
  return { firstKeptEntryIndex: first, turnStartIndex, isSplitTurn: turnStartIndex >= 0 };
}

/** The entry with which the last ones have enough tokens; undefined if all together have fewer. */
function findLimit(
  entries: readonly SessionEntry[],
  startIndex: number,
  endIndex: number,
  keepRecentTokens: number,
): number | undefined {
  let tokens = 0;
  for (let index = endIndex - 1; index >= startIndex; index--) {
    const entryTokens = listMessages(entries[index]!).reduce((sum, message) => sum + estimateTokens(message), 0);
    tokens += entryTokens;
    if (entryTokens > 0 && tokens >= keepRecentTokens) return index;
  }
  return undefined;
}

/** Changes of the model and the like belong to the message after them. */
function includeBefore(entries: readonly SessionEntry[], cut: number, startIndex: number): number {
  let first = cut;
  while (first > startIndex && isHidden(entries[first - 1]!)) first--;
  return first;
}

/** Lists the messages of an entry that the model sees. A compaction replaces messages and has none. */
export const listMessages = (entry: SessionEntry) =>
  entry.type === "compaction" ? [] : sessionEntryToContextMessages(entry);

const isHidden = (entry: SessionEntry) => entry.type !== "compaction" && listMessages(entry).length === 0;
