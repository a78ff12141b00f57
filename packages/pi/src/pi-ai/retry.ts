/** Sends a request again when it failed for a reason that may pass. */
import { type AssistantMessage, isRetryable, systemClock } from "@tau/ai";
import { getFailure, sleep } from "@tau/ai/internal";

interface RetryPolicy {
  enabled: boolean;
  /** Attempts after the first. */
  maxRetries: number;
  baseDelayMs: number;
  /** Default 60,000. */
  maxAgentDelayMs?: number;
}

interface RetryCallbacks {
  onRetryScheduled?(attempt: number, maxAttempts: number, delayMs: number, errorMessage: string): unknown;
  onRetryAttemptStart?(): unknown;
  onRetryFinished?(success: boolean, attempt: number, finalError?: string): unknown;
}

export const DEFAULT_MAX_AGENT_RETRY_DELAY_MS = 60_000;

/** Doubles with each attempt, which are counted from 1. */
export const retryDelayMs = (
  {
    baseDelayMs,
    maxAgentDelayMs = DEFAULT_MAX_AGENT_RETRY_DELAY_MS,
  }: Pick<RetryPolicy, "baseDelayMs" | "maxAgentDelayMs">,
  attempt: number,
): number => Math.min(baseDelayMs * 2 ** (attempt - 1), maxAgentDelayMs);

/** Error texts of other clients for a connection that broke, or a gateway that could not reach its model. */
const brokenConnection =
  /terminated|other side closed|socket (hang up|connection was closed)|connection (lost|error)|upstream|reset before headers|websocket.?(closed|error)|ended (without|before)|stream (was interrupted|disconnected|has been canceled)|http\/?2|retry delay/i;

/** An answer that was not made by a provider of ours says only in words why it failed. */
export const isRetryableAssistantError = (message: AssistantMessage): boolean =>
  message.stopReason === "error" &&
  (isRetryable(getFailure(message)) || (!message.failure && brokenConnection.test(message.errorMessage ?? "")));

/** Whether an answer that was cut by its length limit is shorter than the caller allowed. */
export const isRecoverableLength = (message: AssistantMessage, desiredMaxOutput: number): boolean =>
  message.stopReason === "length" && message.usage.output < desiredMaxOutput;

export async function retryAssistantCall(
  produce: () => Promise<AssistantMessage>,
  policy: RetryPolicy | undefined,
  signal: AbortSignal | undefined,
  callbacks: RetryCallbacks = {},
): Promise<AssistantMessage> {
  let message = await produce();
  const maxRetries = policy?.enabled ? policy.maxRetries : 0;
  let attempt = 0;
  while (policy && attempt < maxRetries && isRetryableAssistantError(message)) {
    attempt++;
    const delayMs = retryDelayMs(policy, attempt);
    await callbacks.onRetryScheduled?.(attempt, maxRetries, delayMs, message.errorMessage ?? "");
    if ((await sleep(systemClock, delayMs, signal)) === "aborted") {
      message = { ...message, stopReason: "aborted", errorMessage: "The request was aborted." };
      break;
    }
    await callbacks.onRetryAttemptStart?.();
    message = await produce();
  }
  if (attempt > 0) {
    const hasFailed = message.stopReason === "error" || message.stopReason === "aborted";
    await callbacks.onRetryFinished?.(!hasFailed, attempt, hasFailed ? message.errorMessage : undefined);
  }
  return message;
}
