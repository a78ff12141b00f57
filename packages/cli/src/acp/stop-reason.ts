/** How the end of a run is answered to `session/prompt`. Pure. */
import type { RunEnd } from "@tau/protocol";
import { getFailureAdvice } from "@tau/protocol/surface";
import { JsonRpcError } from "@tau/protocol/json-rpc";
import type { StopReason } from "./schema.generated.ts";

/** Throws where the protocol has no reason for it: the client shows the message as an error. */
export function toStopReason(end: RunEnd): StopReason {
  switch (end.kind) {
    case "done":
    case "stopped":
    case "asked":
      return "end_turn";
    case "length":
      return "max_tokens";
    case "budget":
      // The protocol has no reason for money and time: this one, too, says that a limit was reached.
      return end.limit === "tokens" ? "max_tokens" : "max_turn_requests";
    case "timeout":
      return "max_turn_requests";
    case "aborted":
    case "disconnected":
      return "cancelled";
    case "idle":
    case "failed": {
      const { kind, message } = end.failure;
      if (kind === "refused") return "refusal";
      const advice = getFailureAdvice(kind, "program");
      throw new JsonRpcError(
        kind === "auth" ? "auth_required" : "internal_error",
        advice === undefined ? message : `${message} ${advice}`,
      );
    }
    default:
      return end satisfies never;
  }
}
