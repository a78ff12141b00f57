/** What happens after the engine has stopped. Pure: everything that is known goes in, one step comes out. */
import { type AssistantMessage, type Failure, isRetryable } from "@tau/ai";
import type { TerminationReason } from "@tau/protocol";
import type { RunAborted } from "./run-aborted.ts";
import { isFailed } from "../agent-session/transcript.ts";

/** Why a run ends, and which of the ways to end it is. */
export interface RunStop {
  kind: "stop";
  reason: TerminationReason;
  detail?: string;
  /** Only with the reasons `error` and `idle_timeout_120s`. */
  failure?: Failure;
}

export type Step =
  | RunStop
  /** Ask the same again after a while. */
  | { kind: "retry"; attempt: number; delayMs: number; failure: Failure }
  | { kind: "compact"; reason: "threshold" | "overflow" }
  /** Go on: messages wait, or calls have results that the model has not seen. */
  | { kind: "go_on" };

/** What made the engine stop although it was not done. */
export type StopRequest =
  /** The context is nearly full. */
  | { kind: "full" }
  /** A limit would be exceeded. */
  | { kind: "spent"; limit: string }
  /** Somebody asked for it, such as the model itself. */
  | { kind: "asked"; detail: string };

export interface RunFacts {
  /** Set when the run was told to end. */
  aborted: RunAborted | undefined;
  /** The last answer of this attempt; undefined when none came. */
  answer: AssistantMessage | undefined;
  /** The answer did not fit, or was made from a part of what was sent. */
  hasOverflowed: boolean;
  request: StopRequest | undefined;
  /** Messages wait for their turn. */
  hasWaiting: boolean;
  /** The model has not seen the last results. */
  wantsMore: boolean;
  /** The context is nearly full. */
  isFull: boolean;
  /** Failures since the last answer that was one. */
  failures: number;
  /** Since the last answer that was one it was compacted because of an overflow. */
  wasCompacted: boolean;
  /** A compaction for the threshold was tried and gained nothing: once more would not help yet. */
  cannotCompact: boolean;
  /** Why the log could not be written. */
  logFailure: string | undefined;
  /** The attempt gave an answer, whatever kind of. */
  hasAnswered: boolean;
  retry: { enabled: boolean; maxRetries: number; baseDelayMs: number };
}

/** The detail of a run whose log could not be written. */
export const writeFailed = "write_failed";

/** A provider that asks for a longer wait than this gets none: a person should hear of it instead. */
const maxWaitMs = 60_000;

export function nextStep(facts: RunFacts): Step {
  const { aborted, answer, request } = facts;
  if (aborted) return { kind: "stop", reason: aborted.termination, ...withDetail(aborted.detail) };
  // What cannot be remembered is not done.
  if (facts.logFailure !== undefined) return failed(writeFailed, facts.logFailure);
  const goesOn = facts.wantsMore || facts.hasWaiting;
  // A run that was over anyway is not ended by its budget.
  if (request?.kind === "spent" && (goesOn || !answer || isFailed(answer))) return done(`budget_${request.limit}`);
  // Once: a context that is still too large after that is a failure like any other.
  if (facts.hasOverflowed && !facts.wasCompacted) return { kind: "compact", reason: "overflow" };
  if (!facts.hasAnswered) return failed("unknown", "The model was asked and gave no answer.");
  if (answer && isFailed(answer)) return afterFailure(facts, answer);
  if (request?.kind === "asked") return done(request.detail);
  // Also when nothing is left to do: who asks next should not have to wait for it.
  if (facts.isFull && !facts.cannotCompact) return { kind: "compact", reason: "threshold" };
  if (goesOn) return { kind: "go_on" };
  return answer?.stopReason === "length" ? done("length") : { kind: "stop", reason: "no_tool_calls" };
}

const failed = (detail: string, message: string): RunStop => ({
  kind: "stop",
  reason: "error",
  detail,
  failure: { kind: "unknown", message },
});

const done = (detail: string): RunStop => ({ kind: "stop", reason: "no_tool_calls", detail });

function afterFailure({ failures, retry }: RunFacts, answer: AssistantMessage): Step {
  const failure = answer.failure ?? { kind: "unknown", message: answer.errorMessage ?? "The model gave no reason." };
  const delayMs = retryDelay(failure, failures, retry);
  if (delayMs !== undefined) return { kind: "retry", attempt: failures, delayMs, failure };
  const reason = failure.kind === "idle_timeout" ? "idle_timeout_120s" : "error";
  return { kind: "stop", reason, detail: failure.kind, failure };
}

/** The reason with which the run ends when nothing more comes; undefined when it goes on. */
export function reasonIfLast(facts: RunFacts): TerminationReason | undefined {
  const step = nextStep(facts);
  if (step.kind === "stop") return step.reason;
  if (step.kind !== "compact" || step.reason === "overflow") return undefined;
  const afterwards = nextStep({ ...facts, cannotCompact: true });
  return afterwards.kind === "stop" ? afterwards.reason : undefined;
}

/** Twice as long each time, and as long as the provider asks for; undefined when it is not to be tried again. */
function retryDelay(failure: Failure, failures: number, { enabled, maxRetries, baseDelayMs }: RunFacts["retry"]) {
  if (!enabled || failures > maxRetries || !isRetryable(failure)) return undefined;
  const asked = ("retryAfterMs" in failure && failure.retryAfterMs) || 0;
  if (asked > maxWaitMs) return undefined;
  return Math.max(asked, Math.min(baseDelayMs * 2 ** (failures - 1), maxWaitMs));
}

const withDetail = (detail: string | undefined) => (detail === undefined ? {} : { detail });
