/** Reports answers for which the provider read much of the conversation again that it should have had in its cache. */
import type { SessionEvent, WireUsage } from "@tau/protocol";
import { formatTokens } from "@tau/protocol/surface";

/** Fewer tokens cost next to nothing. */
const minMissedTokens = 2_000;
/** Providers cache in blocks, so that a part of the end is always read again. */
const minMissedShare = 0.2;

/** Counts the tokens that the last request left in the cache and that this one did not find there; 0 if those are few. */
export function countMissedTokens(before: WireUsage, usage: WireUsage): number {
  const cached = (before.cacheReadTokens ?? 0) + (before.cacheWriteTokens ?? 0);
  const missed = cached - (usage.cacheReadTokens ?? 0);
  return missed >= minMissedTokens && missed >= cached * minMissedShare ? missed : 0;
}

export class CacheMisses {
  readonly #options: { isOn: () => boolean; say: (text: string) => void };
  #before: WireUsage | undefined;
  /** Why the cache was lost, as far as it is known. */
  #reason = "";

  constructor(options: { isOn: () => boolean; say: (text: string) => void }) {
    this.#options = options;
  }

  take(event: SessionEvent): void {
    switch (event.type) {
      case "cache_break":
        this.#reason = event.reason;
        return;
      case "message_end":
        // An answer that failed has no use that could be compared.
        if (event.stopReason === "error" || event.stopReason === "aborted") return;
        return this.#compare(event.usage);
      // Another model has another cache, and a summary begins a new one.
      case "model_changed":
      case "compaction_end":
      case "session_branched":
        return this.forget();
      default:
    }
  }

  /** The next answer is not compared with those before it. */
  forget(): void {
    this.#before = undefined;
    this.#reason = "";
  }

  #compare(usage: WireUsage): void {
    const missed = this.#before ? countMissedTokens(this.#before, usage) : 0;
    const why = this.#reason === "" ? "" : ` ${this.#reason}`;
    if (missed > 0 && this.#options.isOn())
      this.#options.say(`Cache miss: ${formatTokens(missed)} tokens were not in the provider's cache any more.${why}`);
    this.#before = usage;
    this.#reason = "";
  }
}
