/** Counts what an isolated extension does, and says when it is too much. Pure but for the clock that is given. */
import type { ExtensionQuota } from "@tau/policy/internal";

/** Says in a sentence what was exceeded. A breach is reported once until the extension keeps to the quota again. */
export interface Breach {
  readonly message: string;
  readonly isNew: boolean;
}

interface Window {
  start: number;
  count: number;
}

export class QuotaMeter {
  readonly #getQuota: () => ExtensionQuota;
  readonly #now: () => number;
  readonly #second: Window = { start: 0, count: 0 };
  readonly #minute: Window = { start: 0, count: 0 };
  readonly #total = { processes: 0, bytesWritten: 0, requests: 0 };
  readonly #broken = new Set<string>();

  /** `now`: milliseconds that never go back. */
  constructor(getQuota: () => ExtensionQuota, now: () => number) {
    this.#getQuota = getQuota;
    this.#now = now;
  }

  countCall(): Breach | undefined {
    const { callsPerSecond, callsPerMinute } = this.#getQuota();
    return (
      this.#countIn(this.#second, { lengthMs: 1_000, max: callsPerSecond, what: "calls in a second" }) ??
      this.#countIn(this.#minute, { lengthMs: 60_000, max: callsPerMinute, what: "calls in a minute" })
    );
  }

  /** `endProcess` must follow if there is no breach. */
  beginProcess(): Breach | undefined {
    const { processes } = this.#getQuota();
    const breach = this.#check("processes at a time", this.#total.processes + 1, processes);
    if (!breach) this.#total.processes++;
    return breach;
  }

  endProcess(): void {
    this.#total.processes--;
  }

  countRequest(): Breach | undefined {
    return this.#check("requests", ++this.#total.requests, this.#getQuota().requests, { lasts: true });
  }

  countWritten(bytes: number): Breach | undefined {
    this.#total.bytesWritten += bytes;
    return this.#check("bytes written", this.#total.bytesWritten, this.#getQuota().bytesWritten, { lasts: true });
  }

  #countIn(window: Window, { lengthMs, max, what }: { lengthMs: number; max: number; what: string }) {
    const now = this.#now();
    if (now - window.start >= lengthMs) {
      window.start = now;
      window.count = 0;
      this.#broken.delete(what);
    }
    return this.#check(what, ++window.count, max);
  }

  /** `lasts`: nothing makes it less, so each further attempt is a breach of its own. */
  #check(what: string, count: number, max: number | undefined, { lasts = false } = {}): Breach | undefined {
    if (max === undefined || count <= max) {
      this.#broken.delete(what);
      return undefined;
    }
    const isNew = lasts || !this.#broken.has(what);
    this.#broken.add(what);
    return { message: `The quota of ${max} ${what} is used up.`, isNew };
  }
}
