/** Hands over what a platform sent until it is kept: platforms send most things once. */
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { toFault } from "../errors.ts";
import { pause } from "./pause.ts";

interface KeepOptions {
  /** Names the message in the log. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

const firstRetryMs = 1_000;
const maxRetryMs = 60_000;
/** How often a message is tried that fails for a reason which is not known to pass. */
const maxAttempts = 6;

/** Resolves with false if the account is closed before. A message that can never be kept is logged and given up. */
export async function keepMessage(
  take: () => Promise<void>,
  { name, clock, log, signal }: KeepOptions,
): Promise<boolean> {
  for (let attempts = 1; !signal.aborted; attempts++) {
    try {
      await take();
      return true;
    } catch (error) {
      log(`${name} could not be kept: ${getErrorMessage(error)}`);
      if (!isPassing(error, attempts)) return true;
      await pause(clock, Math.min(firstRetryMs * 2 ** (attempts - 1), maxRetryMs), signal);
    }
  }
  return false;
}

function isPassing(error: unknown, attempts: number): boolean {
  const { code, retryable } = toFault(error);
  return retryable || (code === "internal" && attempts < maxAttempts);
}
