/** Decides what becomes of a prompt that a session was given. Pure. */
import type { InputSource } from "@tau/extensions";
import type { QueueKind } from "../run/inbox.ts";

export interface SubmissionFacts {
  /** A run is in progress, or about to begin. */
  isBusy: boolean;
  /** The answer has to have a form, which it has only in a run of its own. */
  hasForm: boolean;
  /** Where the sender wants the prompt to wait during a run. */
  queue: QueueKind | undefined;
  source: InputSource;
  /** The prompt came before the run that is in progress, while extensions looked at it. */
  cameFirst: boolean;
  /** The sender wants the current turn to be aborted for it. */
  interrupt: boolean;
}

export type SubmissionStep =
  /** Begin a run with it. */
  | { kind: "start" }
  /** Queue it, and abort the turn that is in progress if it `interrupts`. */
  | { kind: "queue"; queue: QueueKind; interrupts: boolean }
  /** Wait until the session is idle, and decide again. */
  | { kind: "wait" }
  | { kind: "refuse" };

export function decideSubmission(facts: SubmissionFacts): SubmissionStep {
  const { isBusy, hasForm, queue, source, cameFirst, interrupt } = facts;
  if (!isBusy) return { kind: "start" };
  if (hasForm) return cameFirst && source !== "extension" ? { kind: "wait" } : { kind: "refuse" };
  if (queue !== undefined) return { kind: "queue", queue, interrupts: interrupt };
  if (!cameFirst) return { kind: "refuse" };
  // An extension may be waited for by the run in progress, so its prompt cannot wait for the end of that run.
  return source === "extension" ? { kind: "queue", queue: "followUp", interrupts: interrupt } : { kind: "wait" };
}
