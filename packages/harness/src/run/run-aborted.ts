/** Why a run is ended before its time. It is the reason of the run's signal, so that tools can tell it too. */
import type { TerminationReason } from "@tau/protocol";

export class RunAborted extends Error {
  override readonly name = "AbortError";
  readonly termination: TerminationReason;
  /** Which of the ways to end the reason stands for. */
  readonly detail: string | undefined;

  constructor(termination: TerminationReason, message: string, detail?: string) {
    super(message);
    this.termination = termination;
    this.detail = detail;
  }
}

/** How long a run may take, whatever it does. */
export const maxRunMs = 48 * 60 * 60 * 1_000;

/**
 * What an abort from outside means. A gateway that is gone says so as the reason itself, as its `code` or as its message;
 * everything else is somebody who wants the run to end.
 */
export function abortedBy(reason: unknown): RunAborted {
  if (reason instanceof RunAborted) return reason;
  const said = [reason, field(reason, "code"), field(reason, "message")];
  if (said.includes("gateway_disconnected")) {
    return new RunAborted("gateway_disconnected", "The connection to the gateway was lost.");
  }
  const words = said.find((one): one is string => typeof one === "string" && one !== "" && one !== defaultReason);
  return new RunAborted("abort_signal", words ?? "The run was aborted.", words);
}

/** What a signal says when nobody gave a reason. */
const defaultReason = "This operation was aborted";

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
