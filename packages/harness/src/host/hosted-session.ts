/** A session in a host: its events are numbered, reduced to a view, and replayed to clients that were away. */
import { type ImageContent } from "@tau/ai";
import { getErrorMessage, Listeners } from "@tau/ai/internal";
import {
  emptyView,
  type EventPosition,
  reduce,
  type SessionEvent,
  type View,
  ViewTracker,
  windowSize,
  HarnessError,
} from "@tau/protocol";
import type { PromptRun, Submission } from "../agent-session/activity.ts";
import type { FileCompletion } from "../completion/file-completion.ts";
import type { AgentSession } from "../agent-session/agent-session.ts";
import type { SessionEnd } from "@tau/extensions/internal";
import type { SubmitOptions } from "../agent-session/prompts.ts";
import { EventRing } from "./event-ring.ts";
import { Logins } from "./login.ts";

/** The last event that a client has seen. */
export interface Cursor {
  epoch: string;
  seq: number;
}

/** Passed to subscribers: first a snapshot, unless the events they missed are still there; then every event. */
export type HostEvent =
  | { kind: "snapshot"; view: View; position: EventPosition }
  | { kind: "event"; event: SessionEvent; position: EventPosition };

export type HostListener = (event: HostEvent) => void;

/** Returns the events to publish in place of one; see `FrameRedactor`. */
export interface EventRedactor {
  redactEvent(event: SessionEvent): readonly SessionEvent[];
}

export class HostedSession {
  readonly session: AgentSession;
  /** Created by the first command that completes something. */
  files: FileCompletion | undefined;
  /** New whenever a process opens the session. */
  readonly epoch: string;
  readonly logins: Logins;
  readonly #ring = new EventRing();
  readonly #stopListening: () => void;
  readonly #listeners = new Listeners<HostEvent>((error, isFirst) => {
    if (!isFirst) return;
    const { sessionId } = this.session;
    process.emitWarning(`A subscriber of the session ${sessionId} failed: ${getErrorMessage(error)}`, "TauWarning");
  });
  readonly #tracker: ViewTracker;
  #seq = 0;
  #redactor: EventRedactor | undefined;
  /** Settles when everything that was submitted so far was accepted or refused. */
  #lastSubmission: Promise<unknown> = Promise.resolve();
  #pendingSubmissions = 0;

  constructor(session: AgentSession, { epoch, view }: { epoch: string; view: View }) {
    this.session = session;
    this.epoch = epoch;
    this.logins = new Logins(session);
    this.#tracker = new ViewTracker(view);
    this.#stopListening = session.onSessionEvent((event) => this.#take(event));
  }

  get view(): View {
    return this.#tracker.view;
  }

  get position(): EventPosition {
    return { epoch: this.epoch, seq: this.#seq, stateVersion: this.#tracker.entryCount };
  }

  /**
   * Calls `listener` with what came after `from`, and then with every event. Without `from`, and where the events are no
   * longer there, it gets a snapshot first. Throws for a number that does not exist yet. Returns how to stop.
   */
  subscribe(listener: HostListener, from?: Cursor): () => void {
    let cursor = from;
    do {
      for (const event of this.listEventsAfter(cursor)) {
        listener(event);
        cursor = event.position;
      }
      // A listener may cause events itself, such as a notice.
    } while (cursor !== undefined && cursor.seq < this.#seq);
    return this.#listeners.add(listener);
  }

  /** Whether a client that has seen this event would get all that it missed. */
  hasEventsAfter(seq: number): boolean {
    return seq <= this.#seq && this.#ring.after(seq, this.#seq) !== undefined;
  }

  /** Lists what came after `from`, or a snapshot where that is not there any more, and for a reader that has seen nothing. */
  listEventsAfter(from: Cursor | undefined): HostEvent[] {
    const snapshot: HostEvent = { kind: "snapshot", view: this.view, position: this.position };
    if (from?.epoch !== this.epoch) return [snapshot];
    if (!Number.isInteger(from.seq) || from.seq > this.#seq) {
      throw new HarnessError("invalid_input", `The event ${from.seq} does not exist: the last one is ${this.#seq}.`);
    }
    const missed = this.#ring.after(from.seq, this.#seq);
    if (!missed) return [snapshot];
    let stateVersion = this.position.stateVersion - missed.filter(({ type }) => type === "entry_appended").length;
    return missed.map((event, index): HostEvent => {
      if (event.type === "entry_appended") stateVersion++;
      return { kind: "event", event, position: { epoch: this.epoch, seq: from.seq + index + 1, stateVersion } };
    });
  }

  /** Submits messages in the order of the calls. Resolves when the message is in the log; throws when it could not be written. */
  async submit(text: string, options: SubmitOptions & { images?: ImageContent[] }): Promise<Submission> {
    const submission = await this.#submit(text, options);
    if (submission.disposition !== "started" || submission.isWritten) return submission;
    const { failure } = await submission.outcome;
    const reason = failure?.message ?? "the run ended before it was written";
    // A caller that stores messages for the session must not give this one up: the other writer sends it.
    const code = this.session.readOnly?.reason === "overtaken" ? "overtaken" : "write_failed";
    throw new HarnessError(code, `The prompt could not be written into the session: ${reason}`);
  }

  /** Submits a prompt, and resolves when the run that it begins is over. Undefined: an extension dealt with the prompt. */
  async run(text: string, options: SubmitOptions): Promise<PromptRun | undefined> {
    const submission = await this.#submit(text, options);
    if (submission.disposition === "started") return await submission.outcome;
    if (submission.disposition === "handled") return undefined;
    throw new HarnessError("busy", "A run is already in progress. Wait for it, or abort it.");
  }

  /** Ends what is in progress, and what was submitted before and has not begun. What is submitted afterwards waits for it. */
  async abort(reason?: unknown): Promise<void> {
    const aborted = this.session.abort(reason);
    await this.#inOrder(() => this.session.abort(reason));
    await aborted;
  }

  async close(why?: SessionEnd): Promise<void> {
    this.files?.close();
    this.logins.abort();
    try {
      await this.session.dispose(why);
    } finally {
      this.#stopListening();
    }
  }

  /** A command of an extension is no message, and may take as long as a dialog is open: nothing waits for it. */
  async #submit(text: string, options: SubmitOptions): Promise<Submission> {
    const work = () => this.session.submit(text, options);
    return this.session.isExtensionCommand(text) ? await work() : await this.#inOrder(work);
  }

  async #inOrder<T>(work: () => Promise<T>): Promise<T> {
    // At once where nothing is pending, so that the next command sees that a run was asked for.
    const result = this.#pendingSubmissions === 0 ? work() : this.#lastSubmission.then(work);
    this.#pendingSubmissions++;
    const settle = () => this.#pendingSubmissions--;
    this.#lastSubmission = result.then(settle, settle);
    return await result;
  }

  /** From now on events are numbered, reduced and published as the redactor leaves them. */
  redactWith(redactor: EventRedactor): void {
    this.#redactor = redactor;
  }

  #take(event: SessionEvent): void {
    if (!this.#redactor) this.#tell(event);
    else for (const each of this.#redactor.redactEvent(event)) this.#tell(each);
  }

  #tell(event: SessionEvent): void {
    this.#tracker.take(event);
    this.#seq++;
    this.#ring.push(event);
    this.#listeners.emit({ kind: "event", event, position: this.position });
  }
}

/** The view of a session that was just opened. Costs what is shown, however long the log is. */
export async function openView(session: AgentSession): Promise<View> {
  const { sessionManager } = session;
  for (;;) {
    const entryCount = sessionManager.getEntryCount();
    const name = await sessionManager.getSessionName();
    const { entries, hasOlder } = await sessionManager.getBranchPage({ limit: windowSize });
    // What is appended while the log is read would be missing.
    if (entryCount !== sessionManager.getEntryCount()) continue;
    const log = { entries, hasOlder, leafId: sessionManager.getLeafId(), name, entryCount };
    const { cutRun } = session;
    const ended = cutRun && { reason: cutRun.terminationReason, detail: cutRun.detail };
    const { mode: permissionMode } = session.permissions;
    const approvals = await session.getQuestions();
    const view: View = { log, live: { ...emptyView.live, ended, permissionMode, approvals } };
    return session.notices.reduce((reduced, notice) => reduce(reduced, { type: "notice", ...notice }), view);
  }
}
