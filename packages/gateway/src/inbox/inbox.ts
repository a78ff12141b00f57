/**
 * The messages that the gateway has accepted. Each is on the disk before it is acknowledged, and ends in exactly one way: it
 * is in the log of its session, it was cancelled, or it was given up and can be replayed.
 */
import { getErrorMessage, withoutUndefined } from "@tau/ai/internal";
import type { HostedSession } from "@tau/harness/host";
import type { InboxRequestData } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";
import type { Answer } from "./answers.ts";
import { type StoredMessage, toRequestData } from "./message.ts";
import { type MessageDraft, SessionInbox, type SessionInboxParts } from "./session-inbox.ts";
import { WaitingBytes } from "./waiting-bytes.ts";

type InboxParts = Omit<SessionInboxParts, "onIdle" | "waitingBytes">;

/** How many sessions are opened at a time after a restart. */
const maxOpening = 4;

export class Inbox {
  readonly #parts: InboxParts;
  readonly #sessions = new Map<string, SessionInbox>();
  readonly #waitingBytes = new WaitingBytes();
  readonly #emptyListeners = new Map<string, Set<() => void>>();
  #isStopped = false;

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  /** How many messages wait, and how many were given up. */
  get counts(): { waiting: number; dead: number } {
    return this.#parts.store.messages.counts;
  }

  /** Oldest first. */
  list({ sessionId, state }: { sessionId?: string; state?: StoredMessage["state"] } = {}): StoredMessage[] {
    const { messages } = this.#parts.store;
    const all = [...(sessionId === undefined ? messages.all() : messages.ofSession(sessionId))];
    return all.filter((message) => state === undefined || message.state === state);
  }

  /** Whether a message of the session has no outcome. One counts that is not on the disk yet. */
  hasUnsettled(sessionId: string): boolean {
    const session = this.#sessions.get(sessionId);
    return session ? session.hasUnsettled : this.list({ sessionId, state: "waiting" }).length > 0;
  }

  /** Finds the message that a request with this key brought. Undefined: no such message was accepted. */
  findRequest(requestKey: string): InboxRequestData | undefined {
    const { messages } = this.#parts.store;
    const request = messages.findRequest(requestKey);
    return request && toRequestData(request, messages.get(request.messageId));
  }

  /** Resolves when the message is on the disk. Throws if it is not accepted, or cannot be said at all. */
  accept(draft: MessageDraft): Promise<{ messageId: string } & Answer> {
    return this.#getSession(draft.sessionId).accept(draft);
  }

  /** Accepts a message again that was given up; its run has no more than `scopes`. Answers with the new one. */
  async replay(id: string, scopes: ReadonlySet<string>): Promise<StoredMessage> {
    const dead = this.#mustGet(id);
    if (dead.state !== "dead") throw new GatewayError("conflict", "This message was not given up: it still waits.");
    const { sessionId, text, images, isVerbatim, sender, requestKey, mode } = dead;
    const origin = { ...dead.origin, scopes: (dead.origin.scopes ?? []).filter((scope) => scopes.has(scope)) };
    const draft = { sessionId, text, ...withoutUndefined({ images, isVerbatim, sender, requestKey }), mode, origin };
    const { messageId } = await this.#getSession(sessionId).accept(draft, id);
    const { id: _id, reason: _reason, isUntold: _isUntold, handover: _handover, ...message } = dead;
    return { ...message, id: messageId, state: "waiting", acceptedAt: this.#parts.clock.now() };
  }

  /** Takes back a message that waits, or forgets one that was given up. False if it is too late. */
  async cancel(id: string): Promise<boolean> {
    const message = this.#mustGet(id);
    return await this.#getSession(message.sessionId).cancel(message);
  }

  /** Continues with what waited when the gateway was stopped or killed. Resolves when each message was looked at. */
  async start(): Promise<void> {
    const sessionIds = new Set(this.list({ state: "waiting" }).map(({ sessionId }) => sessionId));
    const queue = [...sessionIds];
    const work = async () => {
      for (let sessionId = queue.shift(); sessionId !== undefined; sessionId = queue.shift()) {
        if (this.#isStopped) return;
        const session = this.#getSession(sessionId);
        session.wake();
        await session.settled();
      }
    };
    await Promise.all(Array.from({ length: maxOpening }, work));
  }

  /** Looks at what waits for a session that another node has left to this one. */
  wake(sessionId: string): void {
    if (!this.#isStopped) this.#getSession(sessionId).wake();
  }

  /** Calls the listener each time nothing waits for the session any more. Returns how to stop. */
  onEmpty(sessionId: string, listener: () => void): () => void {
    const listeners = this.#emptyListeners.get(sessionId) ?? new Set();
    this.#emptyListeners.set(sessionId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#emptyListeners.delete(sessionId);
    };
  }

  /** Hands over nothing more; what waits stays on the disk. */
  stop(): void {
    this.#isStopped = true;
    for (const session of this.#sessions.values()) session.stop();
  }

  /** Resolves when nothing is being handed over any more. */
  async settled(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.settled()));
  }

  /** A session was opened: its runs are written down, and messages that wait for it are looked at. */
  onOpened({ session }: HostedSession): void {
    const { runs, store, log } = this.#parts;
    const { sessionId } = session;
    const tell = (error: unknown) => log(getErrorMessage(error));
    if (runs.wasCut(sessionId)) void runs.end(sessionId).catch(tell);
    session.onSessionEvent(({ type }) => {
      if (type === "agent_start") void runs.begin(sessionId).catch(tell);
      if (type === "agent_end") void runs.end(sessionId).catch(tell);
    });
    const hasWaiting = [...store.messages.ofSession(sessionId)].some(({ state }) => state === "waiting");
    if (hasWaiting && !this.#isStopped) this.#getSession(sessionId).wake();
  }

  #mustGet(id: string): StoredMessage {
    const message = this.#parts.store.messages.get(id);
    if (message) return message;
    const text = `No message ${JSON.stringify(id.slice(0, 80))} waits, and none was given up.`;
    throw new GatewayError("not_found", text);
  }

  #getSession(sessionId: string): SessionInbox {
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const onIdle = () => {
      if (this.#sessions.get(sessionId) === session) this.#sessions.delete(sessionId);
      for (const listener of this.#emptyListeners.get(sessionId) ?? []) listener();
    };
    const session = new SessionInbox(sessionId, { ...this.#parts, onIdle, waitingBytes: this.#waitingBytes });
    this.#sessions.set(sessionId, session);
    return session;
  }
}
