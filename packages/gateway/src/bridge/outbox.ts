/**
 * Decides what may be sent to a client. A client that reads slowly gets no further events above a limit; those sessions
 * wait here, and continue with a snapshot when it has read what it was sent. A client that does not read for long is closed.
 */
import type { Clock } from "@tau/ai";
import { type Client, maxBufferedBytes } from "../client.ts";
import type { EncodedFrame } from "../encoded-frame.ts";
import type { Rounds } from "../rounds.ts";
import type { SharedFrame } from "./shared-frame.ts";
import type { SnapshotBudget } from "./snapshot-budget.ts";

/** A frame that waits costs memory besides its bytes, which all clients share. */
const maxWaitingFrames = 1_024;
/** A client that has no more to read than this has caught up. */
const lowBytes = 64 * 1024;
/** How long a client may take to read what it was sent. */
const maxStallMs = 30_000;
/** How often a client is looked at that has too much to read. */
export const checkMs = 100;
/** The code of WebSocket for: try again later. */
const tooSlow = 1013;

/** A session that has lost events for this client. */
export interface StaleSession {
  getSnapshot(): SharedFrame;
  /** The snapshot was sent: the next event follows it. */
  onSnapshot(): void;
}

interface OutboxParts {
  client: Client;
  clock: Clock;
  /** When clients are looked at again. */
  checks: Rounds;
  snapshots: SnapshotBudget;
}

export class Outbox {
  readonly #parts: OutboxParts;
  readonly #stale = new Set<StaleSession>();
  /** The snapshot that the client has not read yet. */
  #snapshot: EncodedFrame | undefined;
  /** How many frames were sent since the client had read everything. */
  #waitingFrames = 0;
  #stalledSince = 0;
  #cancelCheck: (() => void) | undefined;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** False where the client has too much to read: then its session has to wait. */
  send(frame: SharedFrame): boolean {
    const { client } = this.#parts;
    const { encoded } = frame;
    const { bufferedBytes } = client;
    if (bufferedBytes === 0) this.#waitingFrames = 0;
    else if (bufferedBytes + encoded.message.length > maxBufferedBytes || this.#waitingFrames >= maxWaitingFrames)
      return false;
    this.#waitingFrames++;
    client.send(encoded, frame.isDelta);
    return true;
  }

  /** The session gets a snapshot when the client has caught up: at once if it has. */
  wait(session: StaleSession): void {
    this.#stale.add(session);
    if (this.#cancelCheck) return;
    this.#stalledSince = this.#parts.clock.monotonic();
    this.#check();
  }

  forget(session: StaleSession): void {
    this.#stale.delete(session);
  }

  close(): void {
    this.#cancelCheck?.();
    this.#cancelCheck = undefined;
    this.#stale.clear();
    this.#releaseSnapshot();
  }

  #check(): void {
    const { client, clock, checks } = this.#parts;
    this.#cancelCheck = undefined;
    if (client.bufferedBytes <= lowBytes) {
      this.#stalledSince = clock.monotonic();
      this.#releaseSnapshot();
      this.#sendSnapshots();
    } else if (clock.monotonic() - this.#stalledSince >= maxStallMs) {
      return client.close(tooSlow, "read too slowly");
    }
    if (this.#stale.size > 0 || this.#snapshot) this.#cancelCheck = checks.add(() => this.#check());
  }

  #sendSnapshots(): void {
    const { client, snapshots } = this.#parts;
    for (const session of this.#stale) {
      if (this.#snapshot || client.bufferedBytes > lowBytes) return;
      const { encoded } = session.getSnapshot();
      if (!snapshots.take(encoded)) return;
      this.#stale.delete(session);
      session.onSnapshot();
      this.#waitingFrames++;
      client.send(encoded);
      if (client.bufferedBytes > 0) this.#snapshot = encoded;
      else snapshots.release(encoded);
    }
  }

  #releaseSnapshot(): void {
    if (this.#snapshot) this.#parts.snapshots.release(this.#snapshot);
    this.#snapshot = undefined;
  }
}
