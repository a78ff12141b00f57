/** The frames of one session, for the clients that follow it. */
import { type Cursor, type HostedSession, type HostEvent, maxPageBytes } from "@tau/harness/host";
import type { Client } from "../client.ts";
import { cutWindow } from "./cut-window.ts";
import type { Outbox, StaleSession } from "./outbox.ts";
import { SharedFrame } from "./shared-frame.ts";

interface SessionFeedParts {
  hosted: HostedSession;
  redactLine: (line: string) => string;
}

export class SessionFeed {
  readonly #parts: SessionFeedParts;
  readonly #followers = new Map<Client, Follower>();
  #stop: (() => void) | undefined;
  /** For clients that need one at the same time. It may be large, and nothing else keeps it. */
  #snapshot: WeakRef<SharedFrame> | undefined;

  constructor(parts: SessionFeedParts) {
    this.#parts = parts;
  }

  get clients(): Iterable<Client> {
    return this.#followers.keys();
  }

  get size(): number {
    return this.#followers.size;
  }

  has(client: Client): boolean {
    return this.#followers.has(client);
  }

  /** Sends what came after `from`, or a snapshot, and then every event. A second call takes the place of the first. */
  add(client: Client, outbox: Outbox, from: Cursor | undefined): void {
    this.remove(client);
    this.#stop ??= this.#listen();
    const follower = new Follower(outbox, () => this.#getSnapshot());
    this.#followers.set(client, follower);
    const missed = from && this.#listMissed(from);
    if (missed) for (const item of missed) follower.take(this.#toFrame(item));
    else follower.begin();
  }

  remove(client: Client): void {
    this.#followers.get(client)?.end();
    this.#followers.delete(client);
    if (this.#followers.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
    this.#snapshot = undefined;
  }

  #listen(): () => void {
    const { hosted } = this.#parts;
    const { epoch, seq } = hosted.position;
    return hosted.subscribe(
      (item) => {
        this.#snapshot = undefined;
        const frame = this.#toFrame(item);
        for (const follower of this.#followers.values()) follower.take(frame);
      },
      { epoch, seq },
    );
  }

  /** Undefined where events are gone, and for a position that the session never had. */
  #listMissed(from: Cursor): HostEvent[] | undefined {
    if (!canResume(this.#parts.hosted, from)) return undefined;
    const items: HostEvent[] = [];
    this.#parts.hosted.subscribe((item) => void items.push(item), from)();
    return items[0]?.kind === "snapshot" ? undefined : items;
  }

  /** Clients that need one at the same position share it. */
  #getSnapshot(): SharedFrame {
    const { view, position } = this.#parts.hosted;
    const known = this.#snapshot?.deref();
    if (known) return known;
    const frame = this.#toFrame({ kind: "snapshot", view: cutWindow(view, maxPageBytes), position });
    this.#snapshot = new WeakRef(frame);
    return frame;
  }

  #toFrame(item: HostEvent): SharedFrame {
    const { hosted, redactLine } = this.#parts;
    return new SharedFrame(hosted.session.sessionId, item, redactLine);
  }
}

/** Whether a position is of this life of the session. */
export const canResume = ({ position }: HostedSession, { epoch, seq }: Cursor): boolean =>
  epoch === position.epoch && seq <= position.seq;

/** A client of a session. It gets every event, or loses some and gets a snapshot in their place. */
class Follower implements StaleSession {
  readonly #outbox: Outbox;
  readonly getSnapshot: () => SharedFrame;
  #isStale = false;

  constructor(outbox: Outbox, getSnapshot: () => SharedFrame) {
    this.#outbox = outbox;
    this.getSnapshot = getSnapshot;
  }

  /** Begins with a snapshot. */
  begin(): void {
    this.#isStale = true;
    this.#outbox.wait(this);
  }

  take(frame: SharedFrame): void {
    if (!this.#isStale && !this.#outbox.send(frame)) this.begin();
  }

  onSnapshot(): void {
    this.#isStale = false;
  }

  end(): void {
    this.#outbox.forget(this);
  }
}
