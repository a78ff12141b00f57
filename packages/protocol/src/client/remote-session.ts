/** A session of a gateway, as this client sees it. It continues after any disconnect as if there had been none. */
import type { CommandName } from "../command.ts";
import { type EventPosition, unwrapEvent } from "../envelope.ts";
import type { SessionEntry } from "../entry.ts";
import type { SessionEvent } from "../event.ts";
import type { DialogFrame, SessionEventFrame, SnapshotFrame } from "../gateway/frame.ts";
import type { MethodData, MethodParams } from "../gateway/methods.ts";
import { emptyUi, reduceUi, type ShownUi } from "../shown-ui.ts";
import type { UiAnswer, UiNote } from "../ui-request.ts";
import { ViewTracker } from "../view-tracker.ts";
import type { View } from "../view.ts";
import type { CallOptions } from "./calls.ts";
import { GatewayClientError } from "./errors.ts";
import { Signal } from "./signal.ts";

/**
 * `waiting`: nothing is known yet, or the connection is lost; the view is what it was. `closed`: the session is no longer
 * there, or it could not be opened; `reopen` tries again.
 */
export type RemoteSessionState =
  | { readonly kind: "waiting" }
  | { readonly kind: "live" }
  | { readonly kind: "closed"; readonly reason: string };

export type SessionMethodParams<Name extends CommandName> = Omit<MethodParams<`session.${Name}`>, "sessionId">;

/** A command may be called without fields when it needs none. */
export type SessionCallArgs<Name extends CommandName> =
  Record<never, never> extends SessionMethodParams<Name>
    ? [params?: SessionMethodParams<Name>, options?: CallOptions]
    : [params: SessionMethodParams<Name>, options?: CallOptions];

/** The part of its client that a session needs. */
export interface SessionPort {
  call(method: string, params: Record<string, unknown>, options?: CallOptions): Promise<unknown>;
  setTimer(afterMs: number, fire: () => void): () => void;
  /** Nobody follows the session any more. */
  release(sessionId: string): void;
}

type Position = Pick<EventPosition, "epoch" | "seq">;

const retryMs = 1_000;

export class RemoteSession {
  readonly id: string;
  readonly #port: SessionPort;
  readonly #tracker = new ViewTracker();
  readonly #changed = new Signal<void>();
  readonly #events = new Signal<SessionEvent>();
  readonly #snapshots = new Signal<View>();
  readonly #notes = new Signal<UiNote>();
  #ui = emptyUi;
  /** The last event that is in the view; undefined before the first snapshot. */
  #position: Position | undefined;
  #state: RemoteSessionState = { kind: "waiting" };
  #placeInLine: number | undefined;
  /** Counts subscriptions: what an earlier one is answered with is of no interest. */
  #subscription = 0;
  #isClosed = false;
  #cancelRetry = () => {};

  constructor(id: string, port: SessionPort) {
    this.id = id;
    this.#port = port;
  }

  /** The state that surfaces draw. The same object until something changes. */
  get view(): View {
    return this.#tracker.view;
  }

  /**
   * Open dialogs and notes of extensions, for a client with the ability `ui`. The same object until something of it
   * changes; empty while there is no connection.
   */
  get ui(): ShownUi {
    return this.#ui;
  }

  get state(): RemoteSessionState {
    return this.#state;
  }

  /** The session's place in the line, from 1, while it has messages and waits until a run may begin. */
  get placeInLine(): number | undefined {
    return this.#placeInLine;
  }

  /** Whether the view has been received at least once. */
  get isLoaded(): boolean {
    return this.#position !== undefined;
  }

  /** Where in the session's stream the view stands. */
  get position(): Readonly<Position> | undefined {
    return this.#position;
  }

  /**
   * Called whenever the view, `ui` or the state may differ; deltas may come hundreds of times per second. Returns how
   * to stop.
   */
  onChange(listener: () => void): () => void {
    return this.#changed.add(listener);
  }

  /** Called with every event that is taken into the view. What came before a snapshot is only in the view. */
  onEvent(listener: (event: SessionEvent) => void): () => void {
    return this.#events.add(listener);
  }

  /** Called with the view whenever it does not follow from the one before and the events since. Returns how to stop. */
  onSnapshot(listener: (view: View) => void): () => void {
    return this.#snapshots.add(listener);
  }

  /** Called with every note of an extension. What stays shown is in `ui` too. Returns how to stop. */
  onNote(listener: (note: UiNote) => void): () => void {
    return this.#notes.add(listener);
  }

  /** Answers a dialog of `ui`. False if somebody else was faster, or it is over. */
  async answerDialog(id: string, answer: UiAnswer): Promise<boolean> {
    const { accepted } = (await this.#port.call("dialogs.answer", { sessionId: this.id, id, answer })) as {
      accepted: boolean;
    };
    return accepted;
  }

  /** Sends a command of the session, and resolves with its data. */
  call<Name extends CommandName>(
    command: Name,
    ...[params, options]: SessionCallArgs<Name>
  ): Promise<MethodData<`session.${Name}`>> {
    const sent = { ...params, sessionId: this.id };
    return this.#port.call(`session.${command}`, sent, options) as Promise<MethodData<`session.${Name}`>>;
  }

  /** Entries of the shown branch before one of them, oldest first. */
  async getOlder(before: string, limit: number): Promise<readonly SessionEntry[]> {
    return (await this.call("get_entries", { before, limit })).entries;
  }

  /** All branches, for a tree. */
  async getTree(): Promise<MethodData<"sessions.tree">> {
    return (await this.#port.call("sessions.tree", { sessionId: this.id })) as MethodData<"sessions.tree">;
  }

  /** After it was closed: opens it again. */
  reopen(): void {
    this.#set({ kind: "waiting" });
    void this.subscribe();
  }

  /** Stops following the session. Its run continues, unless it was opened otherwise. */
  close(): void {
    // The client may follow the session again by now, with another object.
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#subscription++;
    this.#cancelRetry();
    this.#changed.clear();
    this.#events.clear();
    this.#snapshots.clear();
    this.#notes.clear();
    this.#port.release(this.id);
  }

  /** Called by the client when there is a connection. */
  async subscribe(isFresh = false): Promise<void> {
    const mine = ++this.#subscription;
    this.#cancelRetry();
    const resume = isFresh ? undefined : this.#position;
    // What is still open or shown is sent again.
    this.#forgetUi();
    try {
      const params = { sessionId: this.id, ...(resume && { resume: { epoch: resume.epoch, lastSeq: resume.seq } }) };
      const answer = await this.#port.call("sessions.subscribe", params, { isLasting: false });
      const { resumed } = answer as MethodData<"sessions.subscribe">;
      // Without it a snapshot follows, and the view continues from that.
      if (mine === this.#subscription && resumed) this.#set({ kind: "live" });
    } catch (error) {
      if (!(error instanceof GatewayClientError)) throw error;
      if (mine === this.#subscription) this.#failToSubscribe(error, resume !== undefined);
    }
  }

  /** Called by the client when the connection is lost; `subscribe` follows when there is another. */
  suspend(): void {
    this.#subscription++;
    this.#cancelRetry();
    this.#forgetUi();
    if (this.#state.kind === "live") this.#set({ kind: "waiting" });
  }

  /** Called by the client with a frame of this session. */
  take(frame: SessionEventFrame | SnapshotFrame): void {
    const { epoch, seq } = frame;
    if (frame.event === "session.snapshot") {
      this.#tracker.view = (frame as SnapshotFrame).payload.view;
      this.#position = { epoch, seq };
      this.#snapshots.emit(this.view);
      return this.#set({ kind: "live" });
    }
    const position = this.#position;
    if (!position || (epoch === position.epoch && seq <= position.seq)) return;
    if (epoch !== position.epoch || seq !== position.seq + 1) return this.#takeGap();
    this.#position = { epoch, seq };
    const event = unwrapEvent(frame as SessionEventFrame);
    // A newer gateway may send kinds that this version does not know; they are included.
    if (!event) return;
    this.#tracker.take(event);
    this.#events.emit(event);
    this.#changed.emit();
  }

  /** Called by the client with what an extension asks or shows. */
  takeUi(frame: DialogFrame): void {
    this.#ui = reduceUi(this.#ui, frame);
    if (frame.event === "session.dialog.note") this.#notes.emit(frame.payload.note);
    this.#changed.emit();
  }

  /** Called by the client when the session begins to wait for a run, or no longer does. */
  takePlaceInLine(place: number | undefined): void {
    this.#placeInLine = place;
    this.#changed.emit();
  }

  /** Called by the client when the gateway no longer has the session open. */
  takeClosed(reason: string): void {
    this.#subscription++;
    this.#forgetUi();
    // Another node has it: it is the same session with another epoch.
    if (reason === "moved") void this.subscribe();
    else this.#set({ kind: "closed", reason });
  }

  /** Events are missing, which a gateway never does. A snapshot is right whatever has happened. */
  #takeGap(): void {
    if (this.#state.kind !== "live") return;
    this.#set({ kind: "waiting" });
    void this.subscribe(true);
  }

  #failToSubscribe(error: GatewayClientError, hadPosition: boolean): void {
    // The next connection subscribes again.
    if (error.code === "disconnected" || error.code === "closed") return;
    if (hadPosition && error.code.startsWith("invalid_")) return void this.subscribe(true);
    if (!error.retryable) return this.#set({ kind: "closed", reason: error.message });
    this.#cancelRetry = this.#port.setTimer(error.retryAfterMs ?? retryMs, () => void this.subscribe());
  }

  #forgetUi(): void {
    if (this.#ui === emptyUi) return;
    this.#ui = emptyUi;
    this.#changed.emit();
  }

  #set(state: RemoteSessionState): void {
    this.#state = state;
    this.#changed.emit();
  }
}
