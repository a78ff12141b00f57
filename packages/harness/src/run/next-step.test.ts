import { type AssistantMessage, emptyUsage, type Failure, type FailureKind } from "@tau/ai";
import type { RunEnd } from "@tau/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isFailed } from "./transcript.ts";
import { continuesAfter, endIfLast, nextStep, type RunFacts, type Step, toFailedEnd } from "./next-step.ts";
import { afterCompaction, maxCutAnswers, noRecovery } from "./recovery.ts";

const answer = (fields: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text: "Hello." }],
  api: "test",
  provider: "test",
  model: "m",
  usage: emptyUsage(),
  stopReason: "stop",
  timestamp: 1,
  ...fields,
});

const failed = (failure: Failure) => answer({ stopReason: "error", errorMessage: failure.message, failure });

const overloaded: Failure = { kind: "overloaded", message: "Busy." };
const idle: Failure = { kind: "idle_timeout", message: "Nothing came for 120 seconds." };
const auth: Failure = { kind: "auth", message: "The key is wrong." };
const overflow: Failure = { kind: "context_overflow", message: "The prompt is too long." };

/** A run that asked once and was answered, with nothing left to do. */
const quiet: RunFacts = {
  aborted: undefined,
  answer: answer(),
  hasOverflowed: false,
  request: undefined,
  hasQueued: false,
  hasUnseenResults: false,
  isFull: false,
  tokens: 1_000,
  logFailure: undefined,
  hasAnswered: true,
  recovery: noRecovery,
  retry: {
    enabled: true,
    maxRetries: undefined,
    baseDelayMs: 2_000,
    maxAgentDelayMs: 60_000,
    provider: { maxRetryDelayMs: 60_000 },
    waitsForBusyProvider: false,
  },
  alternatives: { hasNextKey: false, hasNextModel: false },
  nowMs: 0,
};

const failures = (count: number) => ({ recovery: { ...noRecovery, failures: count } });
const stop = (end: RunEnd): Step => ({ kind: "stop", end });
const aborted: RunEnd = { kind: "aborted", by: "person" };
const terminated: RunEnd = { kind: "stopped", by: "terminated" };
const wroteNothing: RunEnd = {
  kind: "failed",
  cause: "log",
  failure: { kind: "unknown", message: "No space left on device." },
};
const gaveNoAnswer: RunEnd = {
  kind: "failed",
  cause: "model",
  failure: { kind: "unknown", message: "The model gave no answer." },
};
const failedModel = (failure: Failure): RunEnd => ({ kind: "failed", cause: "model", failure });
const logFailure = "No space left on device.";
const spent = { kind: "spent", limit: "turns" } as const;
const outOfTurns: RunEnd = { kind: "budget", limit: "turns" };
const compact = (reason: "threshold" | "overflow"): Step => ({ kind: "compact", reason });
const goOn: Step = { kind: "continue" };
const retry = (delayMs: number, attempt = 1, failure = overloaded, maxAttempts: number | undefined = 3): Step => ({
  kind: "retry",
  attempt,
  maxAttempts,
  delayMs,
  failure,
});
const compactedAlready = { ...noRecovery, wasCompacted: true };

describe("the next step", () => {
  test.each<[law: string, facts: Partial<RunFacts>, step: Step]>([
    ["an answer without calls is the end", {}, stop({ kind: "done" })],
    [
      "an answer that reached its limit ends with that",
      { answer: answer({ stopReason: "length" }) },
      stop({ kind: "length" }),
    ],
    [
      "a run without any answer left to count, which was answered, is done",
      { answer: undefined },
      stop({ kind: "done" }),
    ],
    ["a queued message continues the run", { hasQueued: true }, goOn],
    ["results that the model has not seen continue the run", { hasUnseenResults: true }, goOn],

    [
      "an abort is the end, whatever else holds",
      { aborted, logFailure, hasQueued: true, answer: failed(overloaded) },
      stop(aborted),
    ],
    [
      "a log that fails is the end, also when a retry were due",
      { logFailure, answer: failed(overloaded), ...failures(1) },
      stop(wroteNothing),
    ],
    ["a log that fails is the end, also when messages are queued", { logFailure, hasQueued: true }, stop(wroteNothing)],
    [
      "a log that fails is the end, before a budget",
      { logFailure, request: spent, hasQueued: true },
      stop(wroteNothing),
    ],

    [
      "a spent budget ends a run that would continue with a message",
      { request: spent, hasQueued: true },
      stop(outOfTurns),
    ],
    [
      "a spent budget ends a run that would continue with results",
      { request: spent, hasUnseenResults: true },
      stop(outOfTurns),
    ],
    ["a spent budget ends a run that was not answered", { request: spent, answer: undefined }, stop(outOfTurns)],
    [
      "a spent budget ends a run whose answer failed, instead of a retry",
      { request: spent, answer: failed(overloaded), ...failures(1) },
      stop(outOfTurns),
    ],
    ["a spent budget does not end a run that is over anyway", { request: spent }, stop({ kind: "done" })],
    [
      "a spent budget is told before an overflow is dealt with",
      { request: spent, answer: failed(overflow), hasOverflowed: true },
      stop(outOfTurns),
    ],

    [
      "an overflow is compacted",
      { answer: failed(overflow), hasOverflowed: true, ...failures(1) },
      compact("overflow"),
    ],
    ["an answer made from a part of the request is compacted too", { hasOverflowed: true }, compact("overflow")],
    [
      "an overflow right after a compaction is a failure",
      { answer: failed(overflow), hasOverflowed: true, recovery: { ...compactedAlready, failures: 1 } },
      stop(failedModel(overflow)),
    ],
    [
      "an overflow is dealt with before what a tool asked for",
      { hasOverflowed: true, request: { kind: "asked", end: terminated } },
      compact("overflow"),
    ],

    ["no answer at all is a failure", { answer: undefined, hasAnswered: false }, stop(gaveNoAnswer)],
    [
      "no answer at all is a failure, also when messages are queued",
      { answer: undefined, hasAnswered: false, hasQueued: true },
      stop(gaveNoAnswer),
    ],

    ["what a tool asked for ends the run", { request: { kind: "asked", end: terminated } }, stop(terminated)],
    [
      "what a tool asked for comes before queued messages",
      { request: { kind: "asked", end: terminated }, hasQueued: true },
      stop(terminated),
    ],
    [
      "what a tool asked for comes before a full context",
      { request: { kind: "asked", end: terminated }, isFull: true },
      stop(terminated),
    ],
    [
      "a failed answer is tried again before what was asked for counts",
      { request: { kind: "asked", end: terminated }, answer: failed(overloaded), ...failures(1) },
      retry(2_000),
    ],

    [
      "a full context is compacted before the run continues",
      { isFull: true, hasUnseenResults: true, request: { kind: "full" } },
      compact("threshold"),
    ],
    ["a full context is compacted also when the run is over", { isFull: true }, compact("threshold")],
    [
      "a full context that compaction did not help is left alone until it has grown",
      { isFull: true, recovery: { ...noRecovery, compactAgainAt: 1_001 } },
      stop({ kind: "done" }),
    ],
    [
      "a full context that has grown enough is compacted again",
      { isFull: true, recovery: { ...noRecovery, compactAgainAt: 1_000 } },
      compact("threshold"),
    ],
    [
      "a full context alone ends no run that has results to show",
      { isFull: true, hasUnseenResults: true, recovery: { ...noRecovery, compactAgainAt: 1_001 } },
      goOn,
    ],

    [
      "calls that were cut off are shown to the model three times",
      {
        hasUnseenResults: true,
        answer: answer({ stopReason: "length" }),
        recovery: { ...noRecovery, cutAnswers: maxCutAnswers },
      },
      goOn,
    ],
    [
      "calls that were cut off a fourth time end the run",
      {
        hasUnseenResults: true,
        answer: answer({ stopReason: "length" }),
        recovery: { ...noRecovery, cutAnswers: maxCutAnswers + 1 },
      },
      stop({ kind: "length" }),
    ],
    [
      "a queued message continues a run also after four cut answers",
      { hasQueued: true, hasUnseenResults: true, recovery: { ...noRecovery, cutAnswers: maxCutAnswers + 1 } },
      goOn,
    ],
  ])("%s", (_law, facts, step) => {
    expect(nextStep({ ...quiet, ...facts })).toEqual(step);
  });
});

describe("after a failed answer", () => {
  const after = (failure: Failure, facts: Partial<RunFacts>) =>
    nextStep({ ...quiet, answer: failed(failure), ...facts });

  test.each<[FailureKind, "retried" | "the end"]>([
    ["rate_limited", "retried"],
    ["overloaded", "retried"],
    ["network", "retried"],
    ["idle_timeout", "retried"],
    ["context_overflow", "the end"],
    ["auth", "the end"],
    ["billing", "the end"],
    ["invalid_request", "the end"],
    ["refused", "the end"],
    ["aborted", "the end"],
    ["unknown", "the end"],
  ])("%s is %s", (kind, expected) => {
    const step = after({ kind, message: "It failed." }, failures(1));
    expect(step.kind === "retry" ? "retried" : "the end").toBe(expected);
  });

  test.each([
    [1, 2_000],
    [2, 4_000],
    [3, 8_000],
  ])("the wait doubles: failure %i waits %i ms", (count, delayMs) => {
    expect(after(overloaded, failures(count))).toEqual(retry(delayMs, count));
  });

  test("the wait never doubles beyond a minute", () => {
    const facts = { ...failures(9), retry: { ...quiet.retry, maxRetries: 10 } };
    expect(after(overloaded, facts)).toEqual(retry(60_000, 9, overloaded, 10));
  });

  test("the longest wait is set, and so is the longest that a provider may ask for", () => {
    const facts = (maxAgentDelayMs: number, maxRetryDelayMs: number) => ({
      ...failures(9),
      retry: { ...quiet.retry, maxRetries: 10, maxAgentDelayMs, provider: { maxRetryDelayMs } },
    });
    expect(after(overloaded, facts(5_000, 60_000))).toEqual(retry(5_000, 9, overloaded, 10));
    const asked = { ...overloaded, retryAfterMs: 600_000 };
    expect(after(asked, facts(5_000, 60_000))).toEqual(stop(failedModel(asked)));
    expect(after(asked, facts(5_000, 600_000))).toEqual(retry(600_000, 9, asked, 10));
    expect(after(asked, facts(5_000, 0))).toEqual(retry(600_000, 9, asked, 10));
  });

  test.each<[string, number, Step]>([
    ["longer than ours is waited for", 5_000, retry(5_000, 1, { ...overloaded, retryAfterMs: 5_000 })],
    ["shorter than ours does not shorten ours", 10, retry(2_000, 1, { ...overloaded, retryAfterMs: 10 })],
    ["of exactly a minute is waited for", 60_000, retry(60_000, 1, { ...overloaded, retryAfterMs: 60_000 })],
    ["of more than a minute is the end", 60_001, stop(failedModel({ ...overloaded, retryAfterMs: 60_001 }))],
  ])("a wait that the provider asks for, %s", (_law, retryAfterMs, step) => {
    expect(after({ ...overloaded, retryAfterMs }, failures(1))).toEqual(step);
  });

  test.each<[string, Partial<RunFacts>]>([
    ["as many retries as allowed", failures(4)],
    ["retries being disabled", { ...failures(1), retry: { ...quiet.retry, enabled: false } }],
    ["no retries being allowed", { ...failures(1), retry: { ...quiet.retry, maxRetries: 0 } }],
  ])("%s ends the run with the failure", (_law, facts) => {
    expect(after(overloaded, facts)).toEqual(stop(failedModel(overloaded)));
    expect(after(idle, facts)).toEqual(stop({ kind: "idle", failure: idle }));
  });

  const waiting = { ...quiet.retry, waitsForBusyProvider: true };
  const limited: Failure = { kind: "rate_limited", message: "Slow down." };
  const offline: Failure = { kind: "network", message: "No route to host." };
  /** Failures of which `busy` were refusals of a busy provider, since `ms`. */
  const failing = (count: number, busy: number, ms: number): Partial<RunFacts> => ({
    recovery: { ...noRecovery, failures: count, busyFailures: busy, failingSinceMs: 5_000 },
    nowMs: 5_000 + ms,
    retry: waiting,
  });
  const timed = (delayMs: number, attempt: number, failure: Failure): Step => ({
    kind: "retry",
    attempt,
    maxAttempts: undefined,
    delayMs,
    failure,
  });
  const minute = 60_000;

  test.each<[law: string, failure: Failure, facts: Partial<RunFacts>, step: Step]>([
    ["the wait doubles", overloaded, failing(4, 4, 14_000), timed(16_000, 4, overloaded)],
    ["the wait doubles up to a minute", limited, failing(12, 12, 5 * minute), timed(minute, 12, limited)],
    ["the last attempt is at the end of ten minutes", limited, failing(14, 14, 595_000), timed(5_000, 14, limited)],
    ["after ten minutes the run ends", overloaded, failing(15, 15, 10 * minute), stop(failedModel(overloaded))],
    [
      "a longer wait that the provider asks for is waited for",
      { ...limited, retryAfterMs: 3 * minute },
      failing(1, 1, 0),
      timed(3 * minute, 1, { ...limited, retryAfterMs: 3 * minute }),
    ],
    [
      "a wait beyond the ten minutes is the end",
      { ...limited, retryAfterMs: 9 * minute },
      failing(2, 2, 2 * minute),
      stop(failedModel({ ...limited, retryAfterMs: 9 * minute })),
    ],
    ["another failure is tried three times", offline, failing(3, 0, 5_000), retry(8_000, 3, offline as never)],
    ["another failure is given up after three", offline, failing(4, 0, 5_000), stop(failedModel(offline))],
    [
      "another failure after many refusals is still tried three times",
      offline,
      failing(10, 9, 5 * minute),
      retry(minute, 1, offline as never),
    ],
    [
      "a number that somebody set counts instead of the time",
      overloaded,
      { ...failing(2, 2, 5_000), retry: { ...waiting, maxRetries: 1 } },
      stop(failedModel(overloaded)),
    ],
    [
      "a number that somebody set is not limited by the time",
      overloaded,
      { ...failing(30, 30, 30 * minute), retry: { ...waiting, maxRetries: 99 } },
      retry(minute, 30, overloaded, 99),
    ],
    [
      "disabled retries are disabled",
      overloaded,
      { ...failing(1, 1, 0), retry: { ...waiting, enabled: false } },
      stop(failedModel(overloaded)),
    ],
  ])("where a busy provider is waited for, %s", (_law, failure, facts, step) => {
    expect(after(failure, facts)).toEqual(step);
  });

  test.each([
    ["its message", "Out of luck.", "Out of luck."],
    ["words of ours", undefined, "The model gave no reason."],
  ])("a failure without a kind is unknown, with %s", (_law, errorMessage, message) => {
    const unknown = answer({ stopReason: "error", ...(errorMessage !== undefined && { errorMessage }) });
    const end = failedModel({ kind: "unknown", message });
    expect(nextStep({ ...quiet, answer: unknown, ...failures(1) })).toEqual(stop(end));
  });

  test.each<[Failure, RunEnd]>([
    [idle, { kind: "idle", failure: idle }],
    [auth, { kind: "failed", cause: "model", failure: auth }],
    [overloaded, { kind: "failed", cause: "model", failure: overloaded }],
  ])("that is given up, the run ends by the failure's kind: $kind", (failure, end) => {
    expect(toFailedEnd(failure)).toEqual(end);
  });
});

describe("the end of a turn is the end of the run", () => {
  test.each<[law: string, facts: Partial<RunFacts>, end: RunEnd | undefined]>([
    ["when the next step is to stop", {}, { kind: "done" }],
    ["when it was aborted", { aborted }, aborted],
    ["when only a compaction follows", { isFull: true }, { kind: "done" }],
    [
      "when only a compaction follows a cut answer",
      { isFull: true, answer: answer({ stopReason: "length" }) },
      { kind: "length" },
    ],
    ["when only an overflow of a whole answer is compacted", { hasOverflowed: true }, { kind: "done" }],
    ["not when the run continues", { hasQueued: true }, undefined],
    ["not when it continues after a compaction", { isFull: true, hasUnseenResults: true }, undefined],
    ["not when the answer is asked for again", { answer: failed(overloaded), ...failures(1) }, undefined],
    [
      "not when an overflow is compacted and asked again",
      { hasOverflowed: true, answer: failed(overflow), ...failures(1) },
      undefined,
    ],
  ])("%s", (_law, facts, end) => {
    expect(endIfLast({ ...quiet, ...facts })).toEqual(end);
  });
});

describe("queued messages after the end of a run", () => {
  test.each<[RunEnd, isSteered: boolean, "are sent" | "stay"]>([
    [{ kind: "done" }, false, "are sent"],
    [{ kind: "length" }, false, "are sent"],
    [terminated, false, "are sent"],
    [{ kind: "idle", failure: idle }, false, "are sent"],
    [failedModel(auth), false, "are sent"],
    [{ kind: "failed", cause: "internal", failure: auth }, false, "are sent"],
    [{ kind: "failed", cause: "log", failure: auth }, false, "stay"],
    [{ kind: "failed", cause: "log", failure: auth }, true, "stay"],
    [{ kind: "aborted", by: "agent" }, false, "are sent"],
    [{ kind: "aborted", by: "person" }, false, "stay"],
    [{ kind: "aborted", by: "person", reason: "steered" }, false, "stay"],
    [{ kind: "aborted", by: "person", reason: "steered" }, true, "are sent"],
    [{ kind: "aborted", by: "signal" }, false, "stay"],
    [{ kind: "aborted", by: "parent" }, false, "stay"],
    [{ kind: "budget", limit: "cost" }, false, "stay"],
    [{ kind: "budget", limit: "cost" }, true, "stay"],
    [{ kind: "timeout" }, false, "stay"],
    [{ kind: "disconnected" }, false, "stay"],
  ])("%j, interrupted by steering %s: %s", (end, isSteered, expected) => {
    expect(continuesAfter(end, isSteered) ? "are sent" : "stay").toBe(expected);
  });
});

/** Facts that a run may have: only an answer overflows, and an answer that failed has no results. */
const drawnFacts: fc.Arbitrary<RunFacts> = fc
  .record({
    aborted: fc.option(fc.constant(aborted), { nil: undefined, freq: 6 }),
    answer: fc.constantFrom(
      undefined,
      answer(),
      answer({ stopReason: "length" }),
      ...[overloaded, idle, auth, overflow].map(failed),
    ),
    hasOverflowed: fc.boolean(),
    request: fc.constantFrom(undefined, { kind: "full" } as const, spent, { kind: "asked", end: terminated } as const),
    hasQueued: fc.boolean(),
    hasUnseenResults: fc.boolean(),
    isFull: fc.boolean(),
    tokens: fc.nat(2_000),
    logFailure: fc.option(fc.constant(logFailure), { nil: undefined, freq: 6 }),
    hasAnswered: fc.boolean(),
    recovery: fc.record({
      failures: fc.integer({ min: 1, max: 5 }),
      busyFailures: fc.constantFrom(0, 1),
      failingSinceMs: fc.constant(0),
      changes: fc.nat(2),
      wasCompacted: fc.boolean(),
      cutAnswers: fc.nat(5),
      compactAgainAt: fc.nat(2_000),
    }),
    retry: fc.record({
      maxAgentDelayMs: fc.constant(60_000),
      provider: fc.constant({ maxRetryDelayMs: 60_000 }),
      enabled: fc.boolean(),
      maxRetries: fc.option(fc.nat(5), { nil: undefined }),
      baseDelayMs: fc.integer({ min: 1, max: 100_000 }),
      waitsForBusyProvider: fc.boolean(),
    }),
    alternatives: fc.record({ hasNextKey: fc.boolean(), hasNextModel: fc.boolean() }),
    nowMs: fc.nat(700_000),
  })
  .map((facts) => ({
    ...facts,
    hasOverflowed: facts.hasOverflowed && facts.answer !== undefined,
    hasAnswered: facts.hasAnswered || facts.answer !== undefined,
    recovery: { ...facts.recovery, ...(isFailed(facts.answer) && { cutAnswers: 0 }) },
  }));

/**
 * Finds the step after at most two compactions, as a run does them: each drops an answer that failed, and one that did
 * not help leaves the context full.
 */
function getStepAfterCompactions(facts: RunFacts, hasHelped: boolean): Step {
  let step = nextStep(facts);
  for (let count = 1; count <= 2 && step.kind === "compact"; count++) {
    const retryAt = hasHelped ? undefined : facts.tokens + 1;
    facts = { ...facts, isFull: !hasHelped, recovery: afterCompaction(facts.recovery, step.reason, retryAt) };
    if (isFailed(facts.answer)) facts = { ...facts, answer: undefined, hasOverflowed: false, hasUnseenResults: true };
    step = nextStep(facts);
  }
  return step;
}

/** Few of the drawn facts meet the rarer rules. */
const many = { numRuns: 2_000 };

describe("for any facts", () => {
  test("at most two compactions follow each other, whether they help or not", () => {
    fc.assert(
      fc.property(drawnFacts, fc.boolean(), (facts, hasHelped) => {
        expect(getStepAfterCompactions(facts, hasHelped).kind).not.toBe("compact");
      }),
      many,
    );
  });

  test("the end that a turn tells is the end of the run, and a turn that tells none is not the last", () => {
    fc.assert(
      fc.property(drawnFacts, fc.boolean(), (facts, hasHelped) => {
        const last = getStepAfterCompactions(facts, hasHelped);
        expect(endIfLast(facts)).toEqual(last.kind === "stop" ? last.end : undefined);
      }),
      many,
    );
  });

  test("only a failed answer is asked for again, after a wait of at most a minute", () => {
    fc.assert(
      fc.property(drawnFacts, (facts) => {
        const step = nextStep(facts);
        if (step.kind !== "retry") return;
        expect(facts.answer?.stopReason).toBe("error");
        expect(step.delayMs).toBeGreaterThan(0);
        expect(step.delayMs).toBeLessThanOrEqual(60_000);
        expect(step.attempt).toBeLessThanOrEqual(step.maxAttempts ?? facts.recovery.failures);
        if (step.maxAttempts === undefined) expect(facts.nowMs + step.delayMs).toBeLessThanOrEqual(600_000);
      }),
      many,
    );
  });

  test("an abort is the end with its own reason", () => {
    fc.assert(
      fc.property(drawnFacts, (facts) => void expect(nextStep({ ...facts, aborted })).toEqual(stop(aborted))),
      many,
    );
  });
});
