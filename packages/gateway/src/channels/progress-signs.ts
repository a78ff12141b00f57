/** Reactions that say how far a message is. They are attempted once: the answer is what counts. */
import type { Account } from "./accounts.ts";
import type { ChannelAddress } from "@tau/extensions";

/** Emoji that every platform has for reactions. */
const signs = { received: "👀", done: "👍", failed: "👎" } as const;

interface SignedMessage {
  readonly accountId: string;
  readonly address: ChannelAddress;
  readonly messageId: string;
}

/** More messages than this wait for one answer only if somebody tries to fill the memory. */
const maxMessages = 100;

export class ProgressSigns {
  readonly #findAccount: (accountId: string) => Account | undefined;
  /** The messages of each session that wait for an answer. */
  readonly #waiting = new Map<string, SignedMessage[]>();

  constructor(findAccount: (accountId: string) => Account | undefined) {
    this.#findAccount = findAccount;
  }

  onReceived(sessionId: string, message: SignedMessage): void {
    if (!this.#findAccount(message.accountId)?.settings.reactions) return;
    const waiting = this.#waiting.get(sessionId) ?? [];
    this.#waiting.set(sessionId, [...waiting, message].slice(-maxMessages));
    this.#react(message, "received");
  }

  /** The run for all messages so far is over. */
  onOver(sessionId: string, sign: "done" | "failed"): void {
    const waiting = this.#waiting.get(sessionId) ?? [];
    this.#waiting.delete(sessionId);
    for (const message of waiting) this.#react(message, sign);
  }

  forget(sessionId: string): void {
    this.#waiting.delete(sessionId);
  }

  #react({ accountId, address, messageId }: SignedMessage, sign: keyof typeof signs): void {
    void this.#findAccount(accountId)?.channel.react?.(address, messageId, signs[sign]);
  }
}
