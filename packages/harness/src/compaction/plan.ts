/** What a compaction is to replace and what it keeps. Pure: a branch in, a plan out. */
import type { AgentMessage } from "@tau/agent";
import { contextMessages } from "../session/context.ts";
import type { SessionEntry } from "../session/entry.ts";
import { chooseCut, cutPoints, keptTokens, openCallAt, splitTurnStart } from "./cut.ts";
import { fileOperations, type FileOperations, type GetTouches, withoutFilesText } from "./files.ts";
import { plainText } from "./serialise.ts";
import { isTooLong, maxKept, type ResolvedCompactionSettings } from "./settings.ts";
import { contextTokens, estimateTokens } from "./tokens.ts";

/** Who wants it: the person, a context that is nearly full, or a provider that refused one that was too full. */
export type CompactionReason = "manual" | "threshold" | "overflow";

export interface CompactionPlan {
  /** What the last compaction left, to be brought up to date. Its lists of files are in `files`. */
  previousSummary: string | undefined;
  /** What the summary is to stand for, oldest first, as the model sees it. */
  messages: AgentMessage[];
  /** What comes after them when the cut splits a turn: the beginning of that turn. */
  turnPrefix: AgentMessage[];
  /** Null when nothing is kept: then a compaction names itself. */
  firstKeptEntryId: string | null;
  kept: AgentMessage[];
  /** Of the whole context, as `contextTokens` has it. */
  tokensBefore: number;
  /** An estimate of what is replaced, the previous summary included. */
  replacedTokens: number;
  keptTokens: number;
  files: FileOperations;
}

export type NothingToCompact =
  /** There is no message, or nothing but a summary. */
  | "empty"
  /** A summary would hardly be smaller than what it replaces. */
  | "too_small"
  /** It was tried a few times without an answer in between: once more would not help. */
  | "no_progress";

export type PlanResult = { kind: "compact"; plan: CompactionPlan } | { kind: "nothing"; reason: NothingToCompact };

/** Fewer tokens than this are not worth a summary; in a small window a sixteenth of it. */
const minGain = 256;

/** Compactions that nobody asked for, from one prompt or answer to the next. */
const maxConsecutive = 3;

/**
 * Plans a compaction of a branch, whether it is full or not: see `shouldCompact`. At most half of the messages, by their
 * tokens, is kept, and less when `keepRecentTokens` says so; more only when the last cannot be divided, and none when
 * even that is too large for the window. A call that waits for its result is kept however large it is. Without `touches`,
 * only the files that earlier summaries list are noted.
 */
export function planCompaction(
  branch: readonly SessionEntry[],
  settings: ResolvedCompactionSettings,
  reason: CompactionReason,
  touches: GetTouches = () => undefined,
): PlanResult {
  if (reason !== "manual" && compactionsInARow(branch) >= maxConsecutive)
    return { kind: "nothing", reason: "no_progress" };
  const context = contextMessages(branch);
  const previous = context[0]?.entry.type === "compaction" ? context[0].entry : undefined;
  const rest = previous ? context.slice(1) : context;
  const messages = rest.map(({ message }) => message);
  const kept = keptTokens(messages.map(estimateTokens));
  const previousSummary = (previous && summaryIn(context[0]!.message)) || undefined;
  const previousTokens = previous ? estimateTokens(context[0]!.message) : 0;
  const tokensBefore = contextTokens(branch);
  const needed = Math.max(tokensBefore, reason === "overflow" ? settings.contextWindow : 0);
  const weight = getWeight(needed, kept[0]! + previousTokens);
  const cut = findCut({
    messages,
    kept,
    settings,
    weight,
    tooLong: isTooLong(previousSummary, settings) ? previousTokens : 0,
  });
  if (cut === undefined) return { kind: "nothing", reason: messages.length === 0 ? "empty" : "too_small" };

  const turnStart = cut < messages.length ? splitTurnStart(messages, cut) : undefined;
  const details = [previous?.details, ...rest.slice(0, cut).map(getDetails)];
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
      files: fileOperations(details, messages.slice(0, cut), touches),
    },
  };
}

interface CutSearch {
  messages: readonly AgentMessage[];
  /** For each message, what it and all after it cost. */
  kept: readonly number[];
  settings: ResolvedCompactionSettings;
  weight: number;
  /** What the previous summary costs if it has to become shorter, else 0. */
  tooLong: number;
}

/** The first message to keep, or their number when none is kept; undefined when it would not be worth it. */
function findCut({ messages, kept, settings, weight, tooLong }: CutSearch): number | undefined {
  const end = messages.length;
  const total = kept[0]!;
  const least = Math.min(minGain, settings.contextWindow / 16);
  const gains = (at: number) => total - kept[at]! + tooLong >= least;
  // Where only the summary is too long, all messages may stay. What costs nothing, such as an answer that failed, is not
  // worth keeping alone.
  const cuts = cutPoints(messages).filter((at) => (at > 0 || tooLong > 0) && kept[at]! > 0);
  const recent = settings.keepRecentTokens / weight;
  const keep = tooLong > 0 ? recent : Math.min(recent, total / 2);
  // A result that is still to come must find its call: then nothing is behind the last cut, whatever it keeps.
  const isOpen = openCallAt(messages) !== undefined;
  const most = isOpen ? Number.POSITIVE_INFINITY : maxKept(settings) / weight;
  const chosen = chooseCut({ messages, kept, cuts, keep, most }) ?? end;
  // A cut that gains too little is moved on until it does, at last to the end.
  const moved = cuts.find((at) => at >= chosen && gains(at));
  return moved ?? (gains(end) && !isOpen ? end : undefined);
}

/** As the model sees it: an edit may have put other words in its place. */
const summaryIn = (message: AgentMessage) =>
  withoutFilesText(message.role === "compactionSummary" ? message.summary : plainText(getContent(message)));

const getContent = (message: AgentMessage) => ("content" in message ? message.content : "");

const getDetails = ({ entry }: { entry: SessionEntry }) =>
  entry.type === "branch_summary" ? entry.details : undefined;

/**
 * How much more a context really costs than we estimate: scripts with more than a token for four characters, and what is
 * sent besides the messages. What is kept is measured by it, or a context might not fit when it is done.
 */
const getWeight = (tokens: number, estimate: number) => Math.min(8, Math.max(1, tokens / Math.max(1, estimate)));

function compactionsInARow(branch: readonly SessionEntry[]): number {
  const progress = branch.findLastIndex(
    (entry) =>
      entry.type === "message" &&
      (entry.message?.role === "user" ||
        (entry.message?.role === "assistant" &&
          entry.message.stopReason !== "error" &&
          entry.message.stopReason !== "aborted")),
  );
  return branch.slice(progress + 1).filter(({ type }) => type === "compaction").length;
}
