/** The session that is shown: its client, its view, and how another one takes its place. */
import { emptyView, type SessionEvent, type View, ViewTracker } from "@tau/protocol";
import type { Remarks } from "./remarks.ts";
import type { SessionClient } from "./session-client.ts";

interface SessionListener {
  /** Another session has taken the place of the last one. What it sends is taken once this resolves. */
  onSwitch: () => Promise<void>;
  /** From now on nothing of the session before may be drawn or answered. */
  onClear: () => void;
  onSnapshot: (view: View, before: View) => void;
  onEvent: (event: SessionEvent) => void;
  /** The session is followed. `show` waits for this. */
  onShown: () => Promise<void>;
}

export class FollowedSession {
  readonly #remarks: Remarks;
  readonly #tracker = new ViewTracker();
  #client: SessionClient;
  #listener: SessionListener | undefined;
  #unsubscribe: () => void = () => {};
  #stopReceiving: (() => void) | undefined;
  /** Resolves when the last session that was asked for is followed. */
  #following: Promise<void> = Promise.resolve();

  constructor(client: SessionClient, remarks: Remarks) {
    this.#client = client;
    this.#remarks = remarks;
  }

  get client(): SessionClient {
    return this.#client;
  }

  get view(): View {
    return this.#tracker.view;
  }

  /** Sets who reacts to the session. Called before the first `show`. */
  listen(listener: SessionListener): void {
    this.#listener = listener;
  }

  /** Shows a session. If several are wanted at once, each is shown in turn. */
  async show(client: SessionClient): Promise<void> {
    const following = this.#following.then(() => this.#follow(client));
    this.#following = following.catch(() => {});
    await following;
    await this.#listener?.onShown();
  }

  /** Shows another session of the same host. */
  async showId(sessionId: string): Promise<void> {
    await this.show(this.#client.to(sessionId));
  }

  stop(): void {
    this.#unsubscribe();
    this.#stopReceiving?.();
  }

  async #follow(client: SessionClient): Promise<void> {
    const before = this.#client;
    const isOther = client.sessionId !== before.sessionId;
    const isLeaving = isOther && !before.outlivesTerminal && this.view.live.run !== undefined;
    // Nobody would see what it does, or answer its questions.
    if (isLeaving) await before.execute({ type: "abort" });
    this.#unsubscribe();
    this.#stopReceiving?.();
    // Its extensions can still show why it ends.
    if (isOther) await this.#remarks.guard(async () => await before.leaveFor?.(client));
    this.#client = client;
    await this.#listener?.onSwitch();
    // A gateway sends the snapshot later.
    this.#listener?.onClear();
    this.#tracker.view = emptyView;
    this.#unsubscribe = client.subscribe(
      (view) => {
        const last = this.view;
        this.#tracker.view = view;
        this.#listener?.onSnapshot(view, last);
      },
      (event) => {
        this.#tracker.take(event);
        this.#listener?.onEvent(event);
      },
    );
    this.#stopReceiving = client.receiveMessages?.();
    if (isLeaving) this.#remarks.say("The run in the other session was stopped.");
  }
}
