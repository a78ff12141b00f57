/** Requests that failed and are repeated, as surfaces show them. Pure. */
import type { SessionEntry } from "./entry.ts";

export interface ScheduledRetry {
  /** The first repetition is 1. */
  readonly attempt: number;
  /** Absent where a time limits the attempts, not their number. */
  readonly maxAttempts?: number;
  readonly delayMs: number;
  /** Why the last attempt failed. */
  readonly reason: string;
}

/** The whole line, such as `Trying again in 4 s (2 of 3): The server is overloaded.` */
export function formatRetry({ attempt, maxAttempts, delayMs, reason }: ScheduledRetry): string {
  const count = maxAttempts === undefined ? `attempt ${attempt}` : `${attempt} of ${maxAttempts}`;
  return `Trying again in ${Math.ceil(delayMs / 1_000)} s (${count}): ${reason}`;
}

/** The entry that this one takes out of the conversation; undefined if it does something else. */
export const getWithdrawnId = (entry: SessionEntry): string | undefined =>
  entry.type === "context_edit" && entry.replacement === null ? entry.targetId : undefined;

/** Whether an entry is an answer that failed. It may be asked for again. */
export const isFailedAnswer = (entry: SessionEntry | undefined): boolean =>
  entry?.type === "message" && entry.message.role === "assistant" && entry.message.stopReason === "error";
