/** Counts what happens in the accounts of channels while the gateway runs. */
import type { ChannelCountsData } from "@tau/protocol/gateway";

export class ChannelCounts {
  readonly #counts = new Map<string, ChannelCountsData>();

  add(accountId: string, what: keyof ChannelCountsData): void {
    const counts = this.get(accountId);
    this.#counts.set(accountId, { ...counts, [what]: counts[what] + 1 });
  }

  get(accountId: string): ChannelCountsData {
    return this.#counts.get(accountId) ?? { received: 0, sent: 0, refused: 0, uncertain: 0, reconnects: 0 };
  }
}
