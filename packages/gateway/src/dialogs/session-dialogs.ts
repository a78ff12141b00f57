/** Sends what the extensions of a session ask and show to the clients that follow it and can show that. */
import type { Clock, Ids } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { ExtensionSurface } from "@tau/extensions";
import { createRequestUi, findMisfit, OpenDialogs } from "@tau/extensions/internal";
import type { AgentSession } from "@tau/harness";
import {
  createNoteFrame,
  emptyUi,
  listUiFrames,
  reduceUi,
  type ShownUi,
  type UiAnswer,
  type UiDialog,
  type UiNote,
} from "@tau/protocol";
import { type Client, maxBufferedBytes } from "../client.ts";
import { encodeFrame } from "../encoded-frame.ts";
import { GatewayError } from "../errors.ts";

/** How long a dialog waits when the last client that could answer it has left: a page may just be reloaded. */
const returnMs = 30_000;
/** When a client that was behind is looked at again. */
const retryMs = 1_000;
/** Limits dialogs, statuses and widgets, each. */
const maxShown = 64;
const maxBytes = 256 * 1024;

interface SessionDialogsParts {
  session: AgentSession;
  clock: Clock;
  ids: Ids;
  redact: <T>(value: T) => T;
  log: (line: string) => void;
}

export class SessionDialogs {
  readonly #parts: SessionDialogsParts;
  /** By client, what was sent to it. */
  readonly #told = new Map<Client, ShownUi>();
  #shown: ShownUi = emptyUi;
  #open: OpenDialogs | undefined;
  readonly #stopListening: () => void;
  #cancelReturn: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;

  constructor(parts: SessionDialogsParts) {
    this.#parts = parts;
    this.#stopListening = parts.session.onFirstExtension(() => this.attach());
  }

  get hasOpen(): boolean {
    return this.#shown.dialogs.length > 0;
  }

  /** Sends everything anew. Called whenever a client follows the session, or follows it and says what it can do. */
  follow(client: Client): void {
    this.#told.delete(client);
    if (client.abilities.ui) {
      this.#told.set(client, emptyUi);
      this.attach();
      this.#tell(client);
    }
    // It may have said that it answers no longer.
    this.#watchReturn();
  }

  leave(client: Client): void {
    if (this.#told.delete(client)) this.#watchReturn();
  }

  /** Throws `invalid_parameters` for an answer that the dialog does not have. False if the dialog is over. */
  answer(id: string, answer: UiAnswer): boolean {
    const shown = this.#open?.get(id);
    if (!shown) return false;
    const misfit = findMisfit(shown, answer);
    if (misfit !== undefined) throw new GatewayError("invalid_parameters", misfit);
    return this.#open!.answer(id, answer);
  }

  /** Lends the clients' interface to the extensions, once there are both. This starts extensions that were not started. */
  attach(): void {
    const { session, log } = this.#parts;
    if (this.#open || !session.extensions || !this.#canAsk) return;
    session.attachSurface(this.#createSurface()).catch((error: unknown) => {
      const message = `Its extensions cannot be shown to clients: ${getErrorMessage(error)}`;
      log(`The session ${session.sessionId}: ${message}`);
      session.notify("extension", message);
    });
  }

  /** Cancels what is open, and what is to come. */
  close(): void {
    this.#open?.close();
    this.#told.clear();
    this.#stopListening();
    this.#cancelReturn?.();
    this.#cancelRetry?.();
  }

  get #canAsk(): boolean {
    return [...this.#told.keys()].some(canAnswer);
  }

  #createSurface(): ExtensionSurface {
    const { session, ids, clock, redact } = this.#parts;
    const dialogs = new OpenDialogs({
      ids,
      clock,
      canAsk: () => this.#canAsk && this.#shown.dialogs.length < maxShown,
      redact,
      onOpened: (id, dialog) => this.#show(id, dialog),
      onClosed: (id) => this.#take({ event: "session.dialog.resolved", payload: { sessionId: session.sessionId, id } }),
    });
    this.#open = dialogs;
    const isAttended = () => this.#canAsk;
    return {
      // Where nobody can answer, extensions have to know it.
      get mode() {
        return isAttended() ? "rpc" : "print";
      },
      ui: createRequestUi(dialogs, (note) => this.#note(note)),
      reset: () => {
        dialogs.cancelAll();
        this.#shown = emptyUi;
        this.#tellAll();
      },
    };
  }

  #show(id: string, dialog: UiDialog): void {
    const payload = { sessionId: this.#parts.session.sessionId, id, dialog };
    if (isSmall(payload)) this.#take({ event: "session.dialog.requested", payload });
    else this.#open?.answer(id, { cancelled: true });
  }

  #note(unredacted: UiNote): void {
    const { session, redact } = this.#parts;
    const note = redact(unredacted);
    if (!isSmall(note)) return;
    const before = this.#shown;
    this.#take({ event: "session.dialog.note", payload: { sessionId: session.sessionId, note } });
    if (this.#shown !== before || (note.method !== "notify" && note.method !== "set_editor_text")) return;
    const frame = encodeFrame(createNoteFrame(session.sessionId, note));
    for (const client of this.#told.keys()) if (!isBehind(client)) client.send(frame);
  }

  #take(frame: Parameters<typeof reduceUi>[1]): void {
    const shown = reduceUi(this.#shown, frame);
    if (shown.statuses.length > maxShown || shown.widgets.length > maxShown) return;
    this.#shown = shown;
    this.#tellAll();
  }

  #tellAll(): void {
    for (const client of this.#told.keys()) this.#tell(client);
  }

  #tell(client: Client): void {
    if (isBehind(client)) {
      this.#cancelRetry ??= this.#parts.clock.setTimer(retryMs, () => {
        this.#cancelRetry = undefined;
        this.#tellAll();
      });
      return;
    }
    const told = this.#told.get(client)!;
    const shown = canAnswer(client) ? this.#shown : { ...this.#shown, dialogs: [] };
    this.#told.set(client, shown);
    for (const frame of listUiFrames(this.#parts.session.sessionId, told, shown)) client.send(encodeFrame(frame));
  }

  #watchReturn(): void {
    this.#cancelReturn?.();
    this.#cancelReturn = undefined;
    if (this.#canAsk || !this.hasOpen) return;
    this.#cancelReturn = this.#parts.clock.setTimer(returnMs, () => this.#open?.cancelAll());
  }
}

/** An extension may ask whether a call is allowed, so answers need the scope for that. */
const canAnswer = ({ abilities, scopes }: Client): boolean => abilities.ui && scopes.has("approve");

const isBehind = ({ bufferedBytes }: Client): boolean => bufferedBytes > maxBufferedBytes;

const isSmall = (value: unknown): boolean => JSON.stringify(value).length <= maxBytes;
