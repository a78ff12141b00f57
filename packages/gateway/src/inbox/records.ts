/** The records of an inbox, and the state that they lead to. Pure. */
import { getBytes, getSender } from "./waiting-bytes.ts";
import type { Handover, MessageOutcome, RequestRecord, StoredMessage } from "./message.ts";

export type InboxRecord =
  /** A message was accepted; `replaces` is one that was given up, of which it is a repetition. */
  | { type: "message"; message: StoredMessage; replaces?: string }
  | { type: "handover"; ids: readonly string[]; handover: Handover }
  | { type: "settled"; ids: readonly string[]; outcome: MessageOutcome }
  /** Only in a snapshot: a request whose message is not there any more. */
  | { type: "request"; key: string; request: RequestRecord };

/** How many messages that were given up are kept. */
const maxDead = 1_000;
/** How many requests with a key are remembered with what became of their messages. */
const maxRequests = 10_000;
/** Requests are remembered as long as idempotency keys are kept. */
const maxRequestAgeMs = 24 * 60 * 60_000;

/** The messages without a final outcome, and those that were given up, oldest first. */
export class MessageTable {
  readonly #messages = new Map<string, StoredMessage>();
  readonly #bySession = new Map<string, Map<string, StoredMessage>>();
  #deadCount = 0;
  /** Bytes of the messages that wait, by sender. */
  readonly #waitingBytes = new Map<string, number>();
  /** By key, oldest first. */
  readonly #requests = new Map<string, RequestRecord>();
  readonly #maxRequests: number;

  constructor(limits: { maxRequests?: number } = {}) {
    this.#maxRequests = limits.maxRequests ?? maxRequests;
  }

  get(id: string): StoredMessage | undefined {
    return this.#messages.get(id);
  }

  all(): Iterable<StoredMessage> {
    return this.#messages.values();
  }

  ofSession(sessionId: string): Iterable<StoredMessage> {
    return this.#bySession.get(sessionId)?.values() ?? [];
  }

  /** Counts the bytes of a sender's messages that wait. */
  getWaitingBytes(sender: string): number {
    return this.#waitingBytes.get(sender) ?? 0;
  }

  /** Finds what became of the message that a request with this key brought. */
  findRequest(key: string): RequestRecord | undefined {
    return this.#requests.get(key);
  }

  get counts(): { waiting: number; dead: number } {
    return { waiting: this.#messages.size - this.#deadCount, dead: this.#deadCount };
  }

  /** Records that lead to the same state, without requests whose keys are too old to be used again. */
  *snapshot(nowMs: number): Iterable<InboxRecord> {
    for (const message of this.#messages.values()) yield { type: "message", message };
    // After the messages: a key that was used again after a day belongs to the request that came last.
    for (const [key, request] of this.#requests) {
      const isOver = !this.#messages.has(request.messageId);
      if (isOver && nowMs - request.acceptedAt < maxRequestAgeMs) yield { type: "request", key, request };
    }
  }

  /** Forgets everything, before a snapshot is taken. */
  clear(): void {
    this.#messages.clear();
    this.#bySession.clear();
    this.#requests.clear();
    this.#waitingBytes.clear();
    this.#deadCount = 0;
  }

  take(record: InboxRecord): void {
    switch (record.type) {
      case "message":
        if (record.replaces !== undefined) this.#replace(record.replaces);
        if (this.#messages.has(record.message.id)) return;
        this.#set(record.message);
        return this.#remember(record.message);
      case "handover":
        for (const id of record.ids) {
          const message = this.#messages.get(id);
          if (message?.state === "waiting") this.#set({ ...message, handover: record.handover });
        }
        return;
      case "settled":
        for (const id of record.ids) this.#settle(id, record.outcome);
        return;
      case "request":
        this.#setRequest(record.key, record.request);
    }
  }

  #remember({ id: messageId, sessionId, acceptedAt, requestKey }: StoredMessage): void {
    if (requestKey !== undefined) this.#setRequest(requestKey, { messageId, sessionId, acceptedAt });
  }

  #setRequest(key: string, request: RequestRecord): void {
    this.#requests.delete(key);
    this.#requests.set(key, request);
    const [oldest] = this.#requests.keys();
    if (this.#requests.size > this.#maxRequests && oldest !== undefined) this.#requests.delete(oldest);
  }

  /** A message that was given up is accepted again: its request has the outcome of the first attempt. */
  #replace(id: string): void {
    this.#delete(id, { kind: "dead", reason: this.#messages.get(id)?.reason ?? "" });
  }

  #settle(id: string, outcome: MessageOutcome): void {
    const message = this.#messages.get(id);
    if (!message) return;
    // The first outcome is kept; a message that was given up can only be forgotten.
    if (outcome.kind === "dead") {
      if (message.state !== "waiting") return;
      const { reason, isUntold = false } = outcome;
      return this.#set({ ...message, state: "dead", reason, ...(isUntold && { isUntold }) });
    }
    this.#delete(id, outcome);
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
    if (before) this.#countWaiting(before, -1);
    this.#countWaiting(message, 1);
    this.#messages.set(message.id, message);
    const ofSession = this.#bySession.get(message.sessionId) ?? new Map<string, StoredMessage>();
    this.#bySession.set(message.sessionId, ofSession.set(message.id, message));
    if (message.state !== "dead" || before?.state === "dead") return;
    this.#deadCount++;
    if (this.#deadCount <= maxDead) return;
    for (const { id, state, reason = "" } of this.#messages.values()) {
      if (state === "dead") return this.#delete(id, { kind: "dead", reason });
    }
  }

  #delete(id: string, outcome: MessageOutcome): void {
    const message = this.#messages.get(id);
    if (!message) return;
    const request = message.requestKey === undefined ? undefined : this.#requests.get(message.requestKey);
    if (request?.messageId === id) this.#requests.set(message.requestKey!, { ...request, outcome });
    if (message.state === "dead") this.#deadCount--;
    this.#countWaiting(message, -1);
    this.#messages.delete(id);
    const ofSession = this.#bySession.get(message.sessionId);
    ofSession?.delete(id);
    if (ofSession?.size === 0) this.#bySession.delete(message.sessionId);
  }

  #countWaiting(message: StoredMessage, sign: 1 | -1): void {
    if (message.state !== "waiting") return;
    const sender = getSender(message);
    const bytes = this.getWaitingBytes(sender) + sign * getBytes(message);
    if (bytes > 0) this.#waitingBytes.set(sender, bytes);
    else this.#waitingBytes.delete(sender);
  }
}
