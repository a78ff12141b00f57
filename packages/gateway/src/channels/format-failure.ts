/** Tells a person in a chat that a run failed. Pure. The details are in the gateway's log: they name sessions, keys and servers. */
import type { FailureKind } from "@tau/ai";
import type { SessionEvent } from "@tau/protocol";

export type RunFailure = Pick<Extract<SessionEvent, { type: "error" }>, "code" | "message" | "context">;

const notReached = "I could not answer: the model cannot be reached now. Try again later.";
const notMine = "I could not answer: whoever runs me has to look at the model's account.";
const unexplained = "I could not answer: something went wrong. Try again, or ask whoever runs me to look at the log.";

/** Each has what the person can do about it. */
const sentences: Readonly<Record<FailureKind, string>> = {
  rate_limited: notReached,
  overloaded: notReached,
  network: notReached,
  idle_timeout: notReached,
  auth: notMine,
  billing: notMine,
  context_overflow:
    "I could not answer: this conversation is too long. /compact shortens it, and /new begins another one.",
  refused: "I could not answer: the model refused to. Try other words.",
  invalid_request: unexplained,
  aborted: unexplained,
  unknown: unexplained,
};

/** Never has words of the failure itself. */
export const formatFailure = ({ code }: Pick<RunFailure, "code">): string =>
  Object.hasOwn(sentences, code) ? sentences[code as FailureKind] : unexplained;
