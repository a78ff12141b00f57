/** Whether a compaction that a handler made can take the place of what it shortens. Pure. */
import type { ExtensionEvent, ExtensionResult } from "../api/events.ts";
import { ExtensionError } from "../errors.ts";

/** Throws a sentence for one that would lose the conversation or make it longer. */
export function checkCompaction(
  { branchEntries }: ExtensionEvent<"session_before_compact">,
  { compaction }: NonNullable<ExtensionResult<"session_before_compact">>,
): void {
  if (!compaction) return;
  const { summary, firstKeptEntryId, tokensBefore } = compaction;
  const refuse = (why: string): never => {
    throw new ExtensionError("invalid_result", `It answered with a compaction that cannot be used: ${why}.`);
  };
  if (summary.trim() === "") refuse("the summary is empty");
  // By characters: how many tokens there were is what providers say, and some say too little.
  if (summary.length > JSON.stringify(branchEntries).length) refuse("the summary is longer than the conversation");
  if (firstKeptEntryId !== null && !branchEntries.some(({ id }) => id === firstKeptEntryId))
    refuse("firstKeptEntryId is not an entry of branchEntries");
  if (!(tokensBefore >= 0 && Number.isFinite(tokensBefore))) refuse("tokensBefore is not a number of tokens");
}
