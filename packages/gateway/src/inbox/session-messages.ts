/** The messages of one session, with outcomes that are known before they are on the disk. */
import { getErrorMessage } from "@tau/ai/internal";
import type { InboxStore } from "./inbox-store.ts";
import type { MessageOutcome, StoredMessage } from "./message.ts";

export interface SessionMessagesParts {
  store: InboxStore;
  log: (line: string) => void;
}

export class SessionMessages {
  readonly #sessionId: string;
  readonly #parts: SessionMessagesParts;
  /** They have an outcome, which is not on the disk yet. */
  readonly #settled = new Set<string>();

  constructor(sessionId: string, parts: SessionMessagesParts) {
    this.#sessionId = sessionId;
    this.#parts = parts;
  }

  /** Nothing is without an outcome, and all outcomes are on the disk. */
  get isEmpty(): boolean {
    return this.#settled.size === 0 && this.listUnsettled().length === 0;
  }

  isSettled(id: string): boolean {
    return this.#settled.has(id);
  }

  /** Those without an outcome, oldest first. */
  listUnsettled(): StoredMessage[] {
    return this.#list(({ id, state }) => state === "waiting" && !this.#settled.has(id));
  }

  /** Those that were given up, and were not told of yet. */
  listUntold(): StoredMessage[] {
    return this.#list(({ isUntold }) => isUntold === true);
  }

  /** They count as settled at once. */
  async settle(messages: readonly StoredMessage[], outcome: MessageOutcome): Promise<void> {
    const ids = messages.map(({ id }) => id);
    for (const id of ids) this.#settled.add(id);
    try {
      await this.#parts.store.settle(ids, outcome);
      for (const id of ids) this.#settled.delete(id);
    } catch (error) {
      // The session's log says it too, and is asked after a restart.
      this.#parts.log(`What became of ${ids.join(", ")} could not be written: ${getErrorMessage(error)}`);
    }
  }

  /** Settles a message if `work` says so. Meanwhile it counts as settled. */
  async settleIf(message: StoredMessage, outcome: MessageOutcome, work: () => Promise<boolean>): Promise<boolean> {
    this.#settled.add(message.id);
    const isDone = await work();
    if (isDone) await this.settle([message], outcome);
    else this.#settled.delete(message.id);
    return isDone;
  }

  #list(isWanted: (message: StoredMessage) => boolean): StoredMessage[] {
    return [...this.#parts.store.messages.ofSession(this.#sessionId)].filter(isWanted);
  }
}
