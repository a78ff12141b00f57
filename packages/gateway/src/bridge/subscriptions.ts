/** Which client follows which session. */
import type { Clock } from "@tau/ai";
import type { Cursor } from "@tau/harness/host";
import type { Client } from "../client.ts";
import { encodeFrame } from "../encoded-frame.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import { checkMs, Outbox } from "./outbox.ts";
import { Rounds } from "../rounds.ts";
import { SessionFeed } from "./session-feed.ts";
import { SnapshotBudget } from "./snapshot-budget.ts";

export class Subscriptions {
  readonly #clock: Clock;
  readonly #checks: Rounds;
  readonly #snapshots = new SnapshotBudget();
  /** By session. */
  readonly #feeds = new Map<string, { open: OpenSession; feed: SessionFeed }>();
  readonly #outboxes = new Map<Client, { outbox: Outbox; sessionIds: Set<string> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#checks = new Rounds(clock, checkMs);
  }

  /** Sends what came after `from`, or a snapshot, and then every event. A second subscription takes the place of the first. */
  add(client: Client, open: OpenSession, from?: Cursor): void {
    const { sessionId } = open.hosted.session;
    const { outbox, sessionIds } = this.#getOutbox(client);
    const known = this.#feeds.get(sessionId) ?? { open, feed: new SessionFeed(open) };
    this.#feeds.set(sessionId, known);
    sessionIds.add(sessionId);
    known.feed.add(client, outbox, from);
    open.onFollowed(client, known.feed.size);
  }

  remove(client: Client, sessionId: string): void {
    this.#outboxes.get(client)?.sessionIds.delete(sessionId);
    const known = this.#feeds.get(sessionId);
    if (!known?.feed.has(client)) return;
    known.feed.remove(client);
    if (known.feed.size === 0) this.#feeds.delete(sessionId);
    known.open.onLeft(client, known.feed.size);
  }

  /** Called when a client has said what it can do: that applies in every session that it follows. */
  onAbilities(client: Client): void {
    for (const sessionId of this.#outboxes.get(client)?.sessionIds ?? []) {
      this.#feeds.get(sessionId)?.open.dialogs.follow(client);
    }
  }

  count(sessionId: string): number {
    return this.#feeds.get(sessionId)?.feed.size ?? 0;
  }

  listClients(sessionId: string): Client[] {
    return [...(this.#feeds.get(sessionId)?.feed.clients ?? [])];
  }

  /** Whether a client that follows the session answers questions of the policy. */
  isAttended(sessionId: string): boolean {
    for (const { scopes, abilities } of this.#feeds.get(sessionId)?.feed.clients ?? []) {
      if (abilities.approvals && scopes.has("approve")) return true;
    }
    return false;
  }

  /** Notifies the followers of a session that it is closed. Without a reason nothing is sent, and they follow it again. */
  close(sessionId: string, reason: string | undefined): void {
    for (const client of this.listClients(sessionId)) {
      this.remove(client, sessionId);
      if (reason !== undefined) this.tellClosed(client, sessionId, reason);
    }
  }

  tellClosed(client: Client, sessionId: string, reason: string): void {
    client.send(encodeFrame({ type: "event", event: "session.closed", payload: { sessionId, reason } }));
  }

  #getOutbox(client: Client) {
    const known = this.#outboxes.get(client);
    if (known) return known;
    const outbox = new Outbox({ client, clock: this.#clock, checks: this.#checks, snapshots: this.#snapshots });
    const added = { outbox, sessionIds: new Set<string>() };
    this.#outboxes.set(client, added);
    client.onClosed(() => {
      for (const sessionId of added.sessionIds) this.remove(client, sessionId);
      this.#outboxes.delete(client);
      outbox.close();
    });
    return added;
  }
}
