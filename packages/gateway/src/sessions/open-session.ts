/** A session that is open in the gateway: how long it stays open, and what happens when nobody follows it any more. */
import type { Clock, Ids } from "@tau/ai";
import type { Host, HostedSession, FrameRedactor } from "@tau/harness/host";
import type { OnDisconnect, OpenSessionData } from "@tau/protocol/gateway";
import type { Client } from "../client.ts";
import { SessionDialogs } from "../dialogs/session-dialogs.ts";

/** How long the run of a session with `onDisconnect: "stop"` continues when the last client has left. */
export const disconnectMs = 30_000;

interface OpenSessionParts {
  host: Host;
  hosted: HostedSession;
  redactor: FrameRedactor;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
  getIdleCloseMs: () => number;
  /** See `OpenSessionsOptions`. */
  getPosition: () => number | undefined;
  /** How many clients follow it. */
  countFollowers: () => number;
  /** Called when it was not used for long. */
  onIdle: () => void;
}

export class OpenSession {
  readonly host: Host;
  readonly hosted: HostedSession;
  /** Dialogs, notes and widgets of its extensions. */
  readonly dialogs: SessionDialogs;
  /** The device that had it opened. */
  heldBy: string | undefined;
  readonly #parts: OpenSessionParts;
  /**
   * Clients that opened it with `onDisconnect`, are connected and never followed it: they are treated as if they did.
   * With how to stop waiting for their end.
   */
  readonly #openers = new Map<Client, () => void>();
  #onDisconnect: OnDisconnect = "continue";
  #cancelStop: (() => void) | undefined;
  #cancelIdle: () => void;
  #lastUsedMs: number;
  /** The last event when it was looked at. */
  #lastSeq: number;
  #listedVersion = -1;
  /** How many requests are working with it. */
  #uses = 0;

  constructor(parts: OpenSessionParts) {
    this.#parts = parts;
    this.host = parts.host;
    this.hosted = parts.hosted;
    const { clock, ids, log } = parts;
    this.dialogs = new SessionDialogs({
      session: parts.hosted.session,
      clock,
      ids,
      log,
      redact: (value) => this.redact(value),
    });
    this.#lastUsedMs = parts.clock.monotonic();
    this.#lastSeq = parts.hosted.position.seq;
    this.#cancelIdle = parts.clock.setTimer(parts.getIdleCloseMs(), () => this.#checkIdle());
  }

  /** A line of JSON without the keys that the session uses. */
  redactLine = (line: string): string => this.#parts.redactor.redactLine(line);

  /** A value without the keys that the session uses. */
  redact<T>(value: T): T {
    return this.#parts.redactor.redact(value);
  }

  /** Whether its log has grown since the last call. */
  takeGrowth(): boolean {
    const { stateVersion } = this.hosted.position;
    const hasGrown = stateVersion !== this.#listedVersion;
    this.#listedVersion = stateVersion;
    return hasGrown;
  }

  describe(): OpenSessionData {
    const { session, view } = this.hosted;
    return {
      sessionId: session.sessionId,
      cwd: session.cwd,
      ...(view.log.name !== undefined && { name: view.log.name }),
      ...this.#describeStatus(),
      approvals: view.live.approvals.length,
    };
  }

  #describeStatus(): Pick<OpenSessionData, "status" | "position"> {
    if (this.hosted.view.live.run) return { status: "running" };
    const position = this.#parts.getPosition();
    return position === undefined ? { status: "idle" } : { status: "waiting", position };
  }

  get lastUsedMs(): number {
    return this.#lastUsedMs;
  }

  /** Whether nothing happens in it, and nobody is asked anything. It may still be followed. */
  get isIdle(): boolean {
    const { session, view } = this.hosted;
    return this.#uses === 0 && !session.hasWork && view.live.approvals.length === 0 && !this.dialogs.hasOpen;
  }

  touch(): void {
    this.#lastUsedMs = this.#parts.clock.monotonic();
  }

  /** Keeps it open until the work is done. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#uses++;
    try {
      return await work();
    } finally {
      this.#uses--;
      this.touch();
    }
  }

  setOnDisconnect(onDisconnect: OnDisconnect, client: Client): void {
    this.#onDisconnect = onDisconnect;
    if (onDisconnect === "stop" && !this.#openers.has(client)) {
      const stop = client.onClosed(() => {
        if (this.#openers.delete(client)) this.onLeft(client, this.#parts.countFollowers());
      });
      this.#openers.set(client, stop);
    }
    this.#followDisconnects(this.#parts.countFollowers());
  }

  onFollowed(client: Client, followers: number): void {
    this.#openers.get(client)?.();
    this.#openers.delete(client);
    this.#followDisconnects(followers);
    this.dialogs.follow(client);
  }

  onLeft(client: Client, followers: number): void {
    this.touch();
    this.dialogs.leave(client);
    this.#followDisconnects(followers);
  }

  /** Nothing happens to it by the clock any more. */
  end(): void {
    this.#cancelIdle();
    this.#cancelStop?.();
    for (const stop of this.#openers.values()) stop();
    this.#openers.clear();
    this.dialogs.close();
    this.#onDisconnect = "continue";
  }

  #followDisconnects(followers: number): void {
    const isLeft = this.#onDisconnect === "stop" && followers + this.#openers.size === 0;
    if (!isLeft) {
      this.#cancelStop?.();
      this.#cancelStop = undefined;
    } else if (!this.#cancelStop) {
      this.#cancelStop = this.#parts.clock.setTimer(disconnectMs, () => {
        this.#cancelStop = undefined;
        void this.hosted.abort("gateway_disconnected");
      });
    }
  }

  #checkIdle(): void {
    const { clock, getIdleCloseMs, onIdle } = this.#parts;
    if (this.#isInUse()) this.touch();
    const leftMs = this.#lastUsedMs + getIdleCloseMs() - clock.monotonic();
    if (leftMs <= 0) return onIdle();
    this.#cancelIdle = clock.setTimer(leftMs, () => this.#checkIdle());
  }

  #isInUse(): boolean {
    const { position } = this.hosted;
    const hasChanged = position.seq !== this.#lastSeq;
    this.#lastSeq = position.seq;
    return !this.isIdle || this.#parts.countFollowers() > 0 || hasChanged;
  }
}
