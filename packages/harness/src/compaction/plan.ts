/** Plans what a compaction replaces and what it keeps. Pure, but asynchronous: a branch may have a million entries. */
import type { CompactionTrigger } from "@tau/extensions/internal";
import type { AgentMessage } from "@tau/agent";
import { type ContextMessage, iterateContext } from "../session/context.ts";
import { nextTurn } from "../session/entry-table.ts";
import type { SessionEntry } from "../session/entry.ts";
import { isFinishedAnswer } from "../session/message.ts";
import { visitInTurns } from "../session/visit-in-turns.ts";
import { chooseCut, cutPoints, findOpenCall, splitTurnStart, sumFromEnd } from "./cut.ts";
import { fileOperations, type FileOperations, type GetTouches, withoutFilesText } from "./files.ts";
import { plainText } from "./serialise.ts";
import { isTooLong, maxKept, type ResolvedCompactionSettings } from "./settings.ts";
import { contextTokens, estimateTokens } from "./tokens.ts";

/** The user asked, the context is nearly full, or a provider refused it as too long. */
export type CompactionReason = CompactionTrigger;

export interface CompactionPlan {
  /** The summary of the last compaction, without its lists of files. It is to be updated. */
  previousSummary: string | undefined;
  /** The messages to summarise, oldest first, as the model sees them. */
  messages: AgentMessage[];
  /** The messages after these if the cut splits a turn: the beginning of that turn. */
  turnPrefix: AgentMessage[];
  /** Null if nothing is kept. */
  firstKeptEntryId: string | null;
  kept: AgentMessage[];
  /** The tokens of the whole context: see `contextTokens`. */
  tokensBefore: number;
  /** An estimate of what is replaced, including the previous summary. */
  replacedTokens: number;
  keptTokens: number;
  files: FileOperations;
}

export type NothingToCompact =
  /** There is nothing but a summary, if that. */
  | "empty"
  /** A summary would hardly save anything. */
  | "too_small"
  /** Several compactions in a row did not lead to an answer. */
  | "no_progress";

export type PlanResult = { kind: "compact"; plan: CompactionPlan } | { kind: "nothing"; reason: NothingToCompact };

/** A summary that saves fewer tokens is not worth it; in a small window, a sixteenth of the window. */
const minSavedTokens = 256;

/** Automatic compactions without a prompt or an answer between them. */
export const maxConsecutive = 3;

/**
 * Plans a compaction of a branch, of which everything before the context and the last `maxConsecutive` compactions may be
 * missing. Plans whether the context is full or not: see `shouldCompact`. Keeps at most half of the messages, by their
 * tokens, and at most `keepRecentTokens`; more only if the last messages cannot be divided, and nothing if even those are
 * too large. A call without a result is always kept. Without `touches`, only files of earlier summaries are listed.
 */
export async function planCompaction(
  branch: readonly SessionEntry[],
  settings: ResolvedCompactionSettings,
  reason: CompactionReason,
  touches: GetTouches = () => undefined,
): Promise<PlanResult> {
  if (reason !== "manual" && countCompactionsInARow(branch) >= maxConsecutive)
    return { kind: "nothing", reason: "no_progress" };
  const context: ContextMessage[] = [];
  await visitInTurns(iterateContext(branch), (each) => void context.push(each));
  const previous = context[0]?.entry.type === "compaction" ? context[0].entry : undefined;
  const rest = previous ? context.slice(1) : context;
  const messages = rest.map(({ message }) => message);
  const tokens: number[] = [];
  await visitInTurns(messages, (message) => void tokens.push(estimateTokens(message)));
  const kept = sumFromEnd(tokens);
  const previousSummary = (previous && getSummary(context[0]!.message)) || undefined;
  const previousTokens = previous ? estimateTokens(context[0]!.message) : 0;
  const tokensBefore = await contextTokens(branch);
  const realTokens = Math.max(tokensBefore, reason === "overflow" ? settings.contextWindow : 0);
  const weight = getWeight(realTokens, kept[0]! + previousTokens);
  const excessTokens = isTooLong(previousSummary, settings) ? previousTokens : 0;
  await nextTurn();
  const cut = findCut({ messages, kept, settings, weight, excessTokens });
  if (cut === undefined) return { kind: "nothing", reason: messages.length === 0 ? "empty" : "too_small" };

  await nextTurn();
  const turnStart = cut < messages.length ? splitTurnStart(messages, cut) : undefined;
  const summaries = rest
    .slice(0, cut)
    .map(({ entry }) => (entry.type === "branch_summary" ? entry.details : undefined));
  return {
    kind: "compact",
    plan: {
      previousSummary,
      messages: messages.slice(0, turnStart ?? cut),
      turnPrefix: turnStart === undefined ? [] : messages.slice(turnStart, cut),
      firstKeptEntryId: rest[cut]?.entry.id ?? null,
      kept: messages.slice(cut),
      tokensBefore,
      replacedTokens: kept[0]! - kept[cut]! + previousTokens,
      keptTokens: kept[cut]!,
      files: fileOperations([previous?.details, ...summaries], messages.slice(0, cut), touches),
    },
  };
}

interface CutSearch {
  messages: readonly AgentMessage[];
  /** For each message, the tokens of it and all after it. */
  kept: readonly number[];
  settings: ResolvedCompactionSettings;
  weight: number;
  /** The tokens of the previous summary if that has to become shorter, else 0. */
  excessTokens: number;
}

/** The first message to keep, or the number of messages if none is kept; undefined if a compaction is not worth it. */
function findCut({ messages, kept, settings, weight, excessTokens }: CutSearch): number | undefined {
  const end = messages.length;
  const total = kept[0]!;
  const minSaved = Math.min(minSavedTokens, settings.contextWindow / 16);
  const savesEnough = (cut: number) => total - kept[cut]! + excessTokens >= minSaved;
  // If only the summary is too long, all messages may be kept. Messages without tokens, such as a failed answer, are not
  // worth keeping alone.
  const cuts = cutPoints(messages).filter((cut) => (cut > 0 || excessTokens > 0) && kept[cut]! > 0);
  const recentTokens = settings.keepRecentTokens / weight;
  const targetTokens = excessTokens > 0 ? recentTokens : Math.min(recentTokens, total / 2);
  // A later result must find its call, so the last cut is used whatever it keeps.
  const isOpen = findOpenCall(messages) !== undefined;
  const maxTokens = isOpen ? Number.POSITIVE_INFINITY : maxKept(settings) / weight;
  const chosen = chooseCut({ messages, kept, cuts, targetTokens, maxTokens }) ?? end;
  const cut = cuts.find((later) => later >= chosen && savesEnough(later));
  return cut ?? (savesEnough(end) && !isOpen ? end : undefined);
}

/** A context edit may have replaced the summary by another message. */
const getSummary = (message: AgentMessage) =>
  withoutFilesText(
    message.role === "compactionSummary" ? message.summary : plainText("content" in message ? message.content : ""),
  );

/**
 * The factor by which the real tokens exceed our estimate: because of scripts with more tokens per character, and of what
 * is sent besides the messages. Without it, the compacted context might not fit.
 */
const getWeight = (tokens: number, estimate: number) => Math.min(8, Math.max(1, tokens / Math.max(1, estimate)));

function countCompactionsInARow(branch: readonly SessionEntry[]): number {
  const progress = branch.findLastIndex(
    (entry) => entry.type === "message" && (entry.message?.role === "user" || isFinishedAnswer(entry.message)),
  );
  return branch.slice(progress + 1).filter(({ type }) => type === "compaction").length;
}
