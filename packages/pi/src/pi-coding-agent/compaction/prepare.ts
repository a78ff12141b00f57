/** Decides what a compaction sums up and what it keeps. */
import type { AgentMessage } from "@tau/agent";
import type { CompactionEntry, SessionEntry } from "@tau/protocol";
import { buildSessionContext } from "../session/context.ts";
import { findCutPoint, listMessages } from "./cut-point.ts";
import { collectFileOperations, type FileOperations } from "./file-operations.ts";
import { type CompactionSettings, estimateContextTokens } from "./tokens.ts";

export interface CompactionPreparation {
  firstKeptEntryId: string;
  messagesToSummarize: AgentMessage[];
  /** The beginning of the turn that is split. */
  turnPrefixMessages: AgentMessage[];
  isSplitTurn: boolean;
  tokensBefore: number;
  /** It is to be updated. */
  previousSummary?: string;
  fileOps: FileOperations;
  settings: CompactionSettings;
}

/** Undefined if there is nothing to sum up: all of it was, or all is kept. */
export function prepareCompaction(
  branch: readonly SessionEntry[],
  settings: CompactionSettings,
): CompactionPreparation | undefined {
  const preparation = prepareAnyCompaction(branch, settings);
  return preparation && hasMessages(preparation) ? preparation : undefined;
}

export const hasMessages = ({ messagesToSummarize, turnPrefixMessages }: CompactionPreparation): boolean =>
  messagesToSummarize.length > 0 || turnPrefixMessages.length > 0;

/** Also if all is kept: an extension may have a summary of its own. Undefined right after a compaction. */
export function prepareAnyCompaction(
  branch: readonly SessionEntry[],
  settings: CompactionSettings,
): CompactionPreparation | undefined {
  if (branch.length === 0 || branch.at(-1)?.type === "compaction") return undefined;
  const previousIndex = branch.findLastIndex(({ type }) => type === "compaction");
  const previous = branch[previousIndex] as CompactionEntry | undefined;
  const start = previous ? findFirstKept(branch, previous, previousIndex) : 0;
  const { firstKeptEntryIndex, turnStartIndex, isSplitTurn } = findCutPoint(
    branch,
    start,
    branch.length,
    settings.keepRecentTokens,
  );
  const firstKept = branch[firstKeptEntryIndex];
  if (!firstKept?.id) return undefined;
  const historyEnd = isSplitTurn ? turnStartIndex : firstKeptEntryIndex;
  const messagesToSummarize = branch.slice(start, historyEnd).flatMap(listMessages);
  const turnPrefixMessages = isSplitTurn ? branch.slice(turnStartIndex, firstKeptEntryIndex).flatMap(listMessages) : [];
  return {
    firstKeptEntryId: firstKept.id,
    messagesToSummarize,
    turnPrefixMessages,
    isSplitTurn,
    tokensBefore: estimateContextTokens(buildSessionContext(branch).messages).tokens,
    ...(previous && { previousSummary: previous.summary }),
    fileOps: collectFileOperations([...messagesToSummarize, ...turnPrefixMessages], previous ? [previous.details] : []),
    settings,
  };
}

/** Finds the first entry that the last compaction kept, since it is not part of a summary yet. */
function findFirstKept(branch: readonly SessionEntry[], previous: CompactionEntry, previousIndex: number): number {
  const index = branch.findIndex(({ id }) => id === previous.firstKeptEntryId);
  return index < 0 || index > previousIndex ? previousIndex + 1 : index;
}
