/** What an inbox writes down, and the state that it leads to. Pure. */
import type { Handover, MessageOutcome, StoredMessage } from "./message.ts";

export type InboxRecord =
  /** A message was accepted; `replaces` is one that was given up, of which it is a repetition. */
  | { type: "message"; message: StoredMessage; replaces?: string }
  | { type: "handover"; ids: readonly string[]; handover: Handover }
  | { type: "settled"; ids: readonly string[]; outcome: MessageOutcome };

/** How many messages that were given up are kept. */
const maxDead = 1_000;

/** The messages without a final outcome, and those that were given up, oldest first. */
export class MessageTable {
  readonly #messages = new Map<string, StoredMessage>();
  /** The same, by session. */
  readonly #bySession = new Map<string, Map<string, StoredMessage>>();
  #deadCount = 0;

  get(id: string): StoredMessage | undefined {
    return this.#messages.get(id);
  }

  all(): Iterable<StoredMessage> {
    return this.#messages.values();
  }

  ofSession(sessionId: string): Iterable<StoredMessage> {
    return this.#bySession.get(sessionId)?.values() ?? [];
  }

  get counts(): { waiting: number; dead: number } {
    return { waiting: this.#messages.size - this.#deadCount, dead: this.#deadCount };
  }

  /** Records that lead to the same state. */
  *snapshot(): Iterable<InboxRecord> {
    for (const message of this.#messages.values()) yield { type: "message", message };
  }

  take(record: InboxRecord): void {
    switch (record.type) {
      case "message":
        if (record.replaces !== undefined) this.#delete(record.replaces);
        if (!this.#messages.has(record.message.id)) this.#set(record.message);
        return;
      case "handover":
        for (const id of record.ids) {
          const message = this.#messages.get(id);
          if (message?.state === "waiting") this.#set({ ...message, handover: record.handover });
        }
        return;
      case "settled":
        for (const id of record.ids) this.#settle(id, record.outcome);
    }
  }

  #settle(id: string, outcome: MessageOutcome): void {
    const message = this.#messages.get(id);
    if (!message) return;
    // The first outcome counts; a message that was given up can only be forgotten.
    if (outcome.kind === "dead") {
      if (message.state !== "waiting") return;
      const { reason, isUntold = false } = outcome;
      return this.#set({ ...message, state: "dead", reason, ...(isUntold && { isUntold }) });
    }
    this.#delete(id);
    if (outcome.kind === "injected") for (const told of message.handover?.told ?? []) this.#markTold(told);
  }

  #markTold(id: string): void {
    const message = this.#messages.get(id);
    if (!message?.isUntold) return;
    const { isUntold: _isUntold, ...told } = message;
    this.#set(told);
  }

  #set(message: StoredMessage): void {
    const before = this.#messages.get(message.id);
    this.#messages.set(message.id, message);
    const ofSession = this.#bySession.get(message.sessionId) ?? new Map<string, StoredMessage>();
    this.#bySession.set(message.sessionId, ofSession.set(message.id, message));
    if (message.state !== "dead" || before?.state === "dead") return;
    this.#deadCount++;
    if (this.#deadCount <= maxDead) return;
    for (const { id, state } of this.#messages.values()) {
      if (state === "dead") return this.#delete(id);
    }
  }

  #delete(id: string): void {
    const message = this.#messages.get(id);
    if (!message) return;
    if (message.state === "dead") this.#deadCount--;
    this.#messages.delete(id);
    const ofSession = this.#bySession.get(message.sessionId);
    ofSession?.delete(id);
    if (ofSession?.size === 0) this.#bySession.delete(message.sessionId);
  }
}
