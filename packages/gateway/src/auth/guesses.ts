/**
 * Counts wrong proofs and tokens of each address, also of this machine's own. An address with too many is locked out: its
 * wrong guesses have to wait, longer each time. A right token is still right, because many clients can share an
 * address, and one that guesses must not be able to keep the others out.
 */
import type { Clock } from "@tau/ai";
import { GatewayError } from "../errors.ts";

/** How many are answered before the first lockout. */
const maxWrong = 10;
const firstLockMs = 1_000;
const maxLockMs = 5 * 60_000;
/** After this long without a wrong guess, an address begins anew. */
const forgetMs = 15 * 60_000;
/** The addresses that are remembered. The one whose last guess is the oldest makes room. */
const maxAddresses = 4_096;

interface Record {
  wrong: number;
  /** By the monotonic clock. */
  lastMs: number;
}

export class Guesses {
  readonly #clock: Clock;
  readonly #log: (line: string) => void;
  /** The least recent first. */
  readonly #records = new Map<string, Record>();

  constructor(clock: Clock, log: (line: string) => void) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Counts a wrong guess. Returns how long the address has to wait before the next; 0 if it is not locked out. */
  addWrong(address: string): number {
    const now = this.#clock.monotonic();
    const before = this.#records.get(address);
    const wrong = before && now - before.lastMs < forgetMs ? before.wrong + 1 : 1;
    this.#records.delete(address);
    if (this.#records.size >= maxAddresses) this.#records.delete(this.#records.keys().next().value!);
    this.#records.set(address, { wrong, lastMs: now });
    if (wrong === maxWrong + 1) this.#log(`${address} has shown ${wrong} wrong tokens, and has to wait.`);
    return getLockMs(wrong);
  }
}

/** Pure. */
export const getLockMs = (wrong: number): number =>
  wrong <= maxWrong ? 0 : Math.min(firstLockMs * 2 ** (wrong - maxWrong - 1), maxLockMs);

/** Creates the error for a client with a wrong proof or token, and counts the guess. */
export function createWrongTokenError(guesses: Guesses, address: string): GatewayError {
  const retryAfterMs = guesses.addWrong(address);
  if (retryAfterMs === 0) return new GatewayError("unauthorized", "No device has shown this token.");
  return new GatewayError("rate_limited", "Too many wrong tokens came from this address.", { retryAfterMs });
}
