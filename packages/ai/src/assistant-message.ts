import { classifyMessage, type Failure } from "./failure.ts";
import type { AssistantMessage } from "./message.ts";
import type { Model } from "./model.ts";
import { emptyUsage } from "./usage.ts";

/** An assistant message without content. `timestamp` is in milliseconds since the epoch. */
export const createAssistantMessage = (
  model: Pick<Model, "api" | "provider" | "id">,
  timestamp: number,
): AssistantMessage => ({
  role: "assistant",
  content: [],
  api: model.api,
  provider: model.provider,
  model: model.id,
  usage: emptyUsage(),
  stopReason: "stop",
  timestamp,
});

/** A copy of the message with the failure that ended it. */
export const withFailure = (message: AssistantMessage, failure: Failure): AssistantMessage => ({
  ...message,
  stopReason: failure.kind === "aborted" ? "aborted" : "error",
  errorMessage: failure.message,
  failure,
});

/** Why an answer with `stopReason` `error` or `aborted` failed. A stream function of a caller may report only a text. */
export function getFailure({
  failure,
  stopReason,
  errorMessage: message = "The model gave no reason.",
}: Pick<AssistantMessage, "failure" | "stopReason" | "errorMessage">): Failure {
  return failure ?? (stopReason === "aborted" ? { kind: "aborted", message } : classifyMessage(message));
}
