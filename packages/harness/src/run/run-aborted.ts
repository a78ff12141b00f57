/** Why a run is ended early. It is the reason of the run's signal, so that tools can read it too. */
import { asRecord } from "@tau/ai/internal";
import type { RunEnd } from "@tau/protocol";

export class RunAborted extends Error {
  override readonly name = "AbortError";
  readonly end: RunEnd;
  /** Queued messages are sent in a new run: a steering message interrupted this one. */
  readonly isSteered: boolean;

  constructor(end: RunEnd, message: string, { isSteered = false }: { isSteered?: boolean } = {}) {
    super(message);
    this.end = end;
    this.isSteered = isSteered;
  }
}

/**
 * Interprets an abort from outside. A lost gateway names itself by the reason, its `code` or its message; every other
 * reason means that the run is to end.
 */
export function toRunAborted(reason: unknown, by: "person" | "signal" | "parent"): RunAborted {
  if (reason instanceof RunAborted) return reason;
  const { code, message } = asRecord(reason);
  const texts = [reason, code, message];
  if (texts.includes("gateway_disconnected")) {
    return new RunAborted({ kind: "disconnected" }, "The connection to the gateway was lost.");
  }
  const text = texts.find(
    (value): value is string => typeof value === "string" && value !== "" && value !== defaultReason,
  );
  return new RunAborted(
    { kind: "aborted", by, ...(text !== undefined && { reason: text }) },
    text ?? "The run was aborted.",
  );
}

/** The message of a signal that was aborted without a reason. */
const defaultReason = "This operation was aborted";
