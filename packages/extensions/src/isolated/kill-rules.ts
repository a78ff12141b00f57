/** When an isolated extension is turned off without a person. Pure but for the clock that is given. */

/** Operators of the change, for the audit. */
type KillRule = "denied-calls" | "crashes" | "quota";

export interface KillReason {
  readonly rule: KillRule;
  readonly message: string;
}

const maxDenied = 3;
const maxCrashes = 3;
const crashWindowMs = 60_000;
const maxBreaches = 2;

export class KillRules {
  readonly #now: () => number;
  #denied = 0;
  #breaches = 0;
  #crashes: number[] = [];

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes a call that wants `exec` or `env`. An allowed one restarts the count. */
  noteDangerous(outcome: "allowed" | "denied"): KillReason | undefined {
    this.#denied = outcome === "denied" ? this.#denied + 1 : 0;
    if (this.#denied < maxDenied) return undefined;
    return {
      rule: "denied-calls",
      message: `${maxDenied} calls in a row wanted to run commands or to read variables, and were denied.`,
    };
  }

  noteCrash(): KillReason | undefined {
    const now = this.#now();
    this.#crashes = [...this.#crashes.filter((at) => now - at < crashWindowMs), now];
    if (this.#crashes.length < maxCrashes) return undefined;
    return { rule: "crashes", message: `Its process ended ${maxCrashes} times within a minute.` };
  }

  noteBreach(message: string): KillReason | undefined {
    if (++this.#breaches < maxBreaches) return undefined;
    return { rule: "quota", message: `It exceeded a quota again: ${message}` };
  }
}
