/** Messages between the agents of a tree. */

/** How many messages of others an agent may not have read yet. */
export const maxMessages = 100;

/** Delivers a message. Rejects if the agent cannot take it. */
type Deliver = (text: string) => Promise<void>;

export class Mailbox {
  readonly #early: string[] = [];
  #deliver: Deliver | undefined;
  #sending = 0;
  #unread = 0;

  /** How many messages the agent has not read. */
  get size(): number {
    return this.#early.length + this.#sending + this.#unread;
  }

  /** Sets how messages are delivered while the agent works; undefined: they wait. */
  setDelivery(deliver: Deliver | undefined): void {
    this.#deliver = deliver;
    if (deliver) for (const text of this.#early.splice(0)) void this.#send(deliver, text);
  }

  /** Sets how many of the delivered messages the agent has not read. */
  setUnread(count: number): void {
    this.#unread = count;
  }

  /** Adds a message, which is never waited for. False if there are too many. */
  add(text: string): boolean {
    if (this.size >= maxMessages) return false;
    if (this.#deliver) void this.#send(this.#deliver, text);
    else this.#early.push(text);
    return true;
  }

  /** Drops what the agent has not read: it has ended. */
  clear(): void {
    this.#early.length = 0;
    this.#unread = 0;
  }

  async #send(deliver: Deliver, text: string): Promise<void> {
    this.#sending++;
    try {
      await deliver(text);
    } catch {
      // The agent has ended meanwhile, and nobody waits for an answer to a message.
    } finally {
      this.#sending--;
    }
  }
}
