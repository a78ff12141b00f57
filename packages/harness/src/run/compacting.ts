/** Compaction of an open session: plan, summary, one entry, and the transcript that is left. */
import { emptyUsage } from "@tau/ai";
import { untilAborted } from "@tau/ai/internal";
import type { CompactionResult } from "@tau/protocol";
import { formatNothingToCompact } from "../compaction/nothing-to-compact.ts";
import { compact, type CompactionOutcome, type InterceptedCompaction } from "../compaction/compact.ts";
import { type CompactionPlan, type CompactionReason, maxConsecutive } from "../compaction/plan.ts";
import type { ResolvedCompactionSettings } from "../compaction/settings.ts";
import type { ExtensionHooks } from "@tau/extensions";
import type { SessionEntry } from "../session/entry.ts";
import { getMaxRetries } from "./next-step.ts";
import type { RunHost } from "./run-host.ts";

/** The part of a run's host that it needs. */
type CompactingHost = Pick<
  RunHost,
  | "session"
  | "transcript"
  | "publisher"
  | "ask"
  | "settings"
  | "current"
  | "getSummaryModel"
  | "touches"
  | "sent"
  | "extensions"
>;

interface CompactSessionRequest {
  reason: CompactionReason;
  signal: AbortSignal;
  instructions?: string | undefined;
}

/** Must run in the session's lane, so that no other messages are written meanwhile. Messages may be queued. */
export async function compactSession(host: CompactingHost, request: CompactSessionRequest): Promise<CompactionOutcome> {
  const { publisher } = host;
  const { reason } = request;
  publisher.fact({ type: "compaction_start", reason });
  let result: CompactionResult = { kind: "failed", message: "The session could not be written." };
  try {
    const outcome = await compactBranch(host, request);
    result = toResult(outcome);
    return outcome;
  } finally {
    publisher.fact({ type: "compaction_end", reason, outcome: result });
  }
}

async function compactBranch(
  host: CompactingHost,
  { reason, signal, instructions }: CompactSessionRequest,
): Promise<CompactionOutcome> {
  const { session, transcript, extensions } = host;
  // A branch of a million entries takes seconds to read.
  const reading = await untilAborted(session.getRecentBranch(maxConsecutive), signal);
  if (reading.kind === "aborted") return { kind: "aborted", usage: emptyUsage() };
  const branch = reading.value;
  const isIntercepted = extensions?.has("session_before_compact");
  let fromExtension = false;
  const outcome = await compact({
    branch,
    ...(isIntercepted && {
      intercept: async (plan, settings) => {
        const made = await askExtensions(extensions!, { plan, settings, branch, reason, signal, instructions });
        fromExtension = made?.kind === "made";
        return made;
      },
    }),
    settings: host.settings().compaction,
    reason,
    instructions,
    model: host.current().model,
    summaryModel: host.getSummaryModel(),
    streamFn: host.ask,
    signal,
    touches: host.touches,
    // The run does not continue before it is over, so it may wait for a provider that is busy.
    requestOptions: { maxRetries: host.settings().retry.enabled ? getMaxRetries(host.settings().retry) : 0 },
    // A request that does not fit cannot be made at all: then a summary without a model is better than none.
    fallback: reason === "overflow" ? "extract" : "none",
    append: ({ summary, firstKeptEntryId, tokensBefore, details, usage }) =>
      session.appendCompaction(summary, firstKeptEntryId, tokensBefore, { details, usage }),
  });
  if (outcome.kind === "compacted") {
    await transcript.load(session);
    host.sent.setReason("The conversation was compacted.");
  }
  if (outcome.kind === "failed") {
    const message = `The conversation could not be compacted: ${outcome.failure.message}`;
    host.publisher.fact({ type: "notice", code: "compaction_failed", message });
  }
  if (extensions) await notifyExtensions(host, outcome, { reason, fromExtension });
  return outcome;
}

interface Interception extends CompactSessionRequest {
  plan: CompactionPlan;
  settings: ResolvedCompactionSettings;
  branch: readonly SessionEntry[];
}

/** A handler may cancel the compaction, or write the summary itself. */
async function askExtensions(
  extensions: ExtensionHooks,
  { plan, settings, branch, reason, signal, instructions }: Interception,
): Promise<InterceptedCompaction | undefined> {
  const { enabled, reserveTokens, keepRecentTokens } = settings;
  // Copies, as of all events: a handler that changes them changes nothing.
  const told = structuredClone({
    preparation: {
      firstKeptEntryId: plan.firstKeptEntryId,
      messagesToSummarize: plan.messages,
      turnPrefixMessages: plan.turnPrefix,
      isSplitTurn: plan.turnPrefix.length > 0,
      tokensBefore: plan.tokensBefore,
      previousSummary: plan.previousSummary,
      fileOps: { read: plan.files.readFiles, modified: plan.files.modifiedFiles },
      settings: { enabled, reserveTokens, keepRecentTokens },
    },
    branchEntries: [...branch],
  });
  const answer = await extensions.emit({
    type: "session_before_compact",
    ...told,
    ...(instructions !== undefined && { customInstructions: instructions }),
    reason,
    willRetry: reason === "overflow",
    signal,
  });
  if (answer?.cancel) return { kind: "cancelled" };
  const made = answer?.compaction;
  return made && { kind: "made", compaction: { ...made, usage: made.usage ?? emptyUsage() } };
}

async function notifyExtensions(
  { extensions, session }: CompactingHost,
  outcome: CompactionOutcome,
  { reason, fromExtension }: { reason: CompactionReason; fromExtension: boolean },
): Promise<void> {
  const facts = { reason, fromExtension, willRetry: reason === "overflow" };
  if (outcome.kind === "compacted") {
    const entry = await session.getEntry(outcome.entryId);
    if (entry?.type === "compaction")
      await extensions?.emit({ type: "session_compact", compactionEntry: entry, ...facts });
    return;
  }
  const errorMessage = describeFailure(outcome);
  const aborted = outcome.kind === "aborted";
  const failure = { aborted, ...(errorMessage !== undefined && { errorMessage }) };
  await extensions?.emit({ type: "session_compact_failed", ...failure, ...facts });
}

function describeFailure(outcome: Exclude<CompactionOutcome, { kind: "compacted" }>): string | undefined {
  switch (outcome.kind) {
    case "failed":
      return outcome.failure.message;
    case "nothing":
      return formatNothingToCompact(outcome.reason);
    case "aborted":
      return undefined;
  }
}

function toResult(outcome: CompactionOutcome): CompactionResult {
  switch (outcome.kind) {
    case "compacted": {
      const { entryId, tokensAfter, compaction } = outcome;
      return { kind: "compacted", entryId, tokensBefore: compaction.tokensBefore, tokensAfter };
    }
    case "nothing":
      return { kind: "nothing", reason: outcome.reason };
    case "failed":
      return { kind: "failed", message: outcome.failure.message };
    case "aborted":
      return { kind: "aborted" };
  }
}
