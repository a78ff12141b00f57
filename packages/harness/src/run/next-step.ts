/** Decides what happens after the engine has stopped. Pure: all facts go in, one step comes out. */
import { type AssistantMessage, type Failure, isRetryable } from "@tau/ai";
import { getFailure } from "@tau/ai/internal";
import { decideAfterFailure, type NextUse } from "@tau/config/internal";
import type { BudgetLimitName, RunEnd } from "@tau/protocol";
import { isFailed } from "./transcript.ts";
import { type Alternatives, noAlternatives } from "./used-model.ts";
import { isBusy, maxCutAnswers, type Recovery } from "./recovery.ts";

export type Step =
  | { kind: "stop"; end: RunEnd }
  /** Ask the same again after a delay. `maxAttempts` is undefined if a time limits the attempts, not their number. */
  | { kind: "retry"; attempt: number; maxAttempts: number | undefined; delayMs: number; failure: Failure }
  /** Ask another model, or with another key, at once. */
  | { kind: "change"; to: Extract<NextUse, "next_key" | "next_model">; failure: Failure }
  | { kind: "compact"; reason: "threshold" | "overflow" }
  /** Continue: messages are queued, or calls have results that the model has not seen. */
  | { kind: "continue" };

/** The reason why the engine stopped before it was done. */
export type StopRequest =
  /** The context is nearly full. */
  | { kind: "full" }
  /** The next request would exceed a budget. */
  | { kind: "spent"; limit: BudgetLimitName }
  /** The session, a tool or the model asked for the end. */
  | { kind: "asked"; end: RunEnd };

export interface RunFacts {
  /** Set when the run was aborted. */
  aborted: RunEnd | undefined;
  /** The last answer of this attempt; undefined when there was none. */
  answer: AssistantMessage | undefined;
  /** The answer did not fit, or was made from only a part of the request. */
  hasOverflowed: boolean;
  request: StopRequest | undefined;
  hasQueued: boolean;
  /** The model has not seen the last results. */
  hasUnseenResults: boolean;
  /** The context is nearly full. */
  isFull: boolean;
  /** Tokens of the context. */
  tokens: number;
  /** Why the log could not be written. */
  logFailure: string | undefined;
  /** The attempt produced an answer, also a failed one. */
  hasAnswered: boolean;
  recovery: Recovery;
  retry: RetryFacts;
  /** Says whether another key or model can be used after a failure. */
  alternatives: Alternatives;
  /** The time of the monotonic clock. */
  nowMs: number;
}

interface RetryFacts {
  enabled: boolean;
  /** The value that the user set; undefined for the default. */
  maxRetries: number | undefined;
  baseDelayMs: number;
  /** The longest wait that tau chooses itself. */
  maxAgentDelayMs: number;
  /** The longest wait that a provider may ask for where attempts are counted; 0 for any. */
  provider: { maxRetryDelayMs: number };
  /** Whether a busy provider is asked again for `maxBusyMs` if `maxRetries` is not set. */
  waitsForBusyProvider: boolean;
}

/** How often a request is repeated if the user set nothing. */
const defaultMaxRetries = 3;

/** How long a busy provider is asked again where a person or a queue can wait for it. */
const maxBusyMs = 10 * 60_000;

/** How often a request is repeated, other than one that a busy provider refused. */
export const getMaxRetries = ({ maxRetries = defaultMaxRetries }: { maxRetries: number | undefined }): number =>
  maxRetries;

export function nextStep(facts: RunFacts): Step {
  const { aborted, answer, request, recovery } = facts;
  if (aborted) return stop(aborted);
  if (facts.logFailure !== undefined) {
    return stop({ kind: "failed", cause: "log", failure: { kind: "unknown", message: facts.logFailure } });
  }
  // Whatever else there is to do has to wait for the calls that wait.
  if (request?.kind === "asked" && request.end.kind === "asked") return stop(request.end);
  const continues = facts.hasQueued || (facts.hasUnseenResults && recovery.cutAnswers <= maxCutAnswers);
  // A run that was over anyway is not ended by its budget.
  if (request?.kind === "spent" && (continues || !answer || isFailed(answer))) {
    return stop({ kind: "budget", limit: request.limit });
  }
  // Only once: a context that is still too large afterwards is a failure like any other.
  if (facts.hasOverflowed && !recovery.wasCompacted) return { kind: "compact", reason: "overflow" };
  if (!facts.hasAnswered) {
    const failure: Failure = { kind: "unknown", message: "The model gave no answer." };
    return stop({ kind: "failed", cause: "model", failure });
  }
  if (answer && isFailed(answer)) return afterFailure(answer, facts);
  if (request?.kind === "asked") return stop(request.end);
  // Also when the run is over: the next prompt should not have to wait for it.
  if (facts.isFull && facts.tokens >= recovery.compactAgainAt) return { kind: "compact", reason: "threshold" };
  if (continues) return { kind: "continue" };
  return stop({ kind: answer?.stopReason === "length" ? "length" : "done" });
}

const stop = (end: RunEnd): Step => ({ kind: "stop", end });

function afterFailure(answer: AssistantMessage, facts: RunFacts): Step {
  const failure = getFailure(answer);
  const retry = planRetry(failure, facts);
  const next = decideAfterFailure({
    kind: failure.kind,
    hasShown: hasShown(answer),
    ...(facts.retry.enabled ? facts.alternatives : noAlternatives),
    tries: facts.recovery.failures,
    canRetry: retry !== undefined,
  });
  if (next === "next_key" || next === "next_model") return { kind: "change", to: next, failure };
  return retry ? { kind: "retry", ...retry, failure } : stop(toFailedEnd(failure));
}

/** Whether the user has seen text or calls of an answer. */
const hasShown = ({ content }: AssistantMessage): boolean =>
  content.some((block) => block.type === "toolCall" || (block.type === "text" && block.text !== ""));

/** How a run ends that is not tried again after `failure`. */
export const toFailedEnd = (failure: Failure): RunEnd =>
  failure.kind === "idle_timeout" ? { kind: "idle", failure } : { kind: "failed", cause: "model", failure };

/** How the run ends if nothing else happens; undefined when it continues. */
export function endIfLast(facts: RunFacts): RunEnd | undefined {
  const step = nextStep(facts);
  const last = step.kind === "compact" ? nextStep(toCompacted(facts)) : step;
  return last.kind === "stop" ? last.end : undefined;
}

/** The facts after a compaction that helped. It drops an answer that failed, so what was asked is asked again. */
const toCompacted = (facts: RunFacts): RunFacts => ({
  ...facts,
  hasOverflowed: false,
  isFull: false,
  ...(isFailed(facts.answer) && { answer: undefined, hasUnseenResults: true }),
});

/** When the request is repeated; undefined if it is not. */
function planRetry(
  failure: Failure,
  { recovery, retry, alternatives, nowMs }: RunFacts,
): Pick<Step & { kind: "retry" }, "attempt" | "maxAttempts" | "delayMs"> | undefined {
  if (!retry.enabled || !isRetryable(failure)) return undefined;
  const attempt = recovery.failures;
  const maxRetries = getMaxRetries(retry);
  // Only the last model of a chain is waited for: before that, the next one is used.
  const isTimed = retry.maxRetries === undefined && retry.waitsForBusyProvider && !alternatives.hasNextModel;
  if (isTimed && isBusy(failure)) {
    const leftMs = maxBusyMs - (nowMs - (recovery.failingSinceMs ?? nowMs));
    const delayMs = leftMs > 0 ? getRetryDelay(failure, { attempt, maxMs: leftMs, retry }) : undefined;
    return delayMs === undefined ? undefined : { attempt, maxAttempts: undefined, delayMs };
  }
  // Refusals that are limited by time do not use up the attempts of other failures.
  const count = isTimed ? attempt - recovery.busyFailures : attempt;
  const maxMs = retry.provider.maxRetryDelayMs || Number.POSITIVE_INFINITY;
  const delayMs = count > maxRetries ? undefined : getRetryDelay(failure, { attempt, maxMs, retry });
  return delayMs === undefined ? undefined : { attempt: count, maxAttempts: maxRetries, delayMs };
}

/** Doubles each time, and is as long as the provider asks for; undefined if it asks for more than `maxMs`. */
function getRetryDelay(
  failure: Failure,
  { attempt, maxMs, retry }: { attempt: number; maxMs: number; retry: RetryFacts },
): number | undefined {
  const asked = ("retryAfterMs" in failure && failure.retryAfterMs) || 0;
  if (asked > maxMs) return undefined;
  return Math.max(asked, Math.min(retry.baseDelayMs * 2 ** (attempt - 1), retry.maxAgentDelayMs, maxMs));
}

/** Whether queued messages are sent in a new run: not after an abort from outside, at a limit, or when the log fails. */
export function continuesAfter(end: RunEnd, isSteered: boolean): boolean {
  switch (end.kind) {
    case "done":
    case "length":
    case "stopped":
    case "idle":
      return true;
    case "failed":
      return end.cause !== "log";
    case "aborted":
      return isSteered || end.by === "agent";
    case "asked":
    case "budget":
    case "timeout":
    case "disconnected":
      return false;
    default:
      return end satisfies never;
  }
}
