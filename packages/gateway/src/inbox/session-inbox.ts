/**
 * The messages of one session, from the moment they are accepted until the session's log has them. One loop looks at what
 * waits and does the next step; everything that may change the answer wakes it.
 */
import type { Clock, Ids } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { AgentSession } from "@tau/harness";
import type { HostedSession } from "@tau/harness/host";
import type { SessionEntry } from "@tau/protocol";
import { GatewayError } from "../errors.ts";
import { maxRunMs } from "../lanes/hold-place.ts";
import type { Lanes, Place } from "../lanes/lanes.ts";
import type { RunRecords } from "../lanes/run-records.ts";
import { SessionExecutionQueue } from "../lanes/session-execution-queue.ts";
import type { GatewaySettings } from "../parts.ts";
import { type Answer, Answers } from "./answers.ts";
import {
  decideAdmission,
  decideNext,
  decideRecovery,
  type InjectStep,
  joinTexts,
  pickUntold,
  toOutcome,
} from "./decide.ts";
import type { InboxStore } from "./inbox-store.ts";
import { toAdopted } from "./adopt.ts";
import {
  getCommonScopes,
  getFirstWords,
  getLogId,
  type InboxMessage,
  type MessageOutcome,
  type StoredMessage,
} from "./message.ts";

export interface SessionInboxParts {
  store: InboxStore;
  lanes: Lanes;
  runs: RunRecords;
  openSession: (sessionId: string) => Promise<{ hosted: HostedSession }>;
  getSettings: () => GatewaySettings;
  clock: Clock;
  ids: Ids;
  /** When the gateway was started, by the clock. */
  startedAt: number;
  /** Called when nothing waits for the session any more. */
  onIdle: (sessionId: string) => void;
  log: (line: string) => void;
}

export type MessageDraft = Omit<InboxMessage, "id" | "acceptedAt">;

/** How often a session that is closed in the wrong moment is opened again. */
const maxAttempts = 3;

export class SessionInbox {
  readonly #sessionId: string;
  readonly #parts: SessionInboxParts;
  readonly #accepting = new SessionExecutionQueue();
  readonly #answers: Answers;
  /** The open session that is followed; `ready` resolves when its log was compared with what has no outcome. */
  #followed: { readonly hosted: HostedSession; readonly ready: Promise<void> } | undefined;
  #stopFollowing = () => {};
  /** Handed to the session, by their id in its log: its own queue has them. */
  readonly #handed = new Set<string>();
  /** They have an outcome, which may not be on the disk yet. */
  readonly #settled = new Set<string>();
  #place: Place | undefined;
  /** The session whose run is waited for. */
  #awaited: AgentSession | undefined;
  /** The session's own queue has messages from before a crash. */
  #resumes = false;
  #acceptCount = 0;
  #isDirty = false;
  #working: Promise<void> | undefined;
  #isStopped = false;
  #cancelTimer = () => {};

  constructor(sessionId: string, parts: SessionInboxParts) {
    this.#sessionId = sessionId;
    this.#parts = parts;
    this.#answers = new Answers(parts.clock);
  }

  /** Resolves when the message is on the disk, and with what the session does with it if that is known soon. */
  async accept(draft: MessageDraft, replaces?: string): Promise<{ messageId: string } & Answer> {
    this.#acceptCount++;
    try {
      const { messageId, answer } = await this.#accepting.enqueue(() => this.#accept(draft, replaces));
      return { messageId, ...(await answer) };
    } finally {
      this.#acceptCount--;
      this.wake();
    }
  }

  async #accept(
    draft: MessageDraft,
    replaces: string | undefined,
  ): Promise<{ messageId: string; answer: Promise<Answer> }> {
    if (this.#isStopped) throw new GatewayError("unavailable", "The gateway is stopping. Try again later.");
    const { store, clock, ids } = this.#parts;
    const { queue } = this.#parts.getSettings();
    const { session } = await this.#open();
    // A message for a session that has no file yet would have nowhere to go after a crash.
    if (session.sessionManager.getEntryCount() === 0) await session.persist();
    const admission = decideAdmission(this.#listUnsettled(), queue);
    if (admission.kind === "refuse") {
      const text = `${queue.cap} messages wait for this session already. Wait until some of them were said.`;
      throw new GatewayError("rate_limited", text);
    }
    const message: StoredMessage = { ...draft, id: ids(), acceptedAt: clock.now(), state: "waiting" };
    await store.accept(message, replaces);
    const answer = this.#answers.add(message.id);
    for (const dropped of admission.drops) await this.#drop(dropped, session, queue.drop === "summarise");
    this.wake();
    return { messageId: message.id, answer };
  }

  /** Takes a message back. False if it is too late. */
  async cancel(message: StoredMessage): Promise<boolean> {
    const outcome: MessageOutcome = { kind: "cancelled", reason: "It was cancelled." };
    if (message.state === "waiting") {
      if (this.#settled.has(message.id)) return false;
      if (this.#handed.has(getLogId(message)))
        return (await this.#followed?.hosted.session.removeQueued(getLogId(message))) ?? false;
    }
    await this.#settle([message], outcome);
    this.wake();
    return true;
  }

  /** Looks again at what is to be done. */
  wake(): void {
    if (this.#isStopped) return;
    this.#isDirty = true;
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      this.#leaveIfIdle();
    });
  }

  /** Resolves when nothing is to be done now. */
  async settled(): Promise<void> {
    await this.#working;
  }

  /** A session that nothing waits for may be closed, and is then forgotten. */
  #leaveIfIdle(): void {
    if (
      this.#isStopped ||
      this.#acceptCount > 0 ||
      this.#place ||
      this.#listUnsettled().length > 0 ||
      this.#settled.size > 0
    )
      return;
    // Another one takes its place when the next message comes.
    this.#isStopped = true;
    this.#stopFollowing();
    this.#followed = undefined;
    this.#parts.onIdle(this.#sessionId);
  }

  /** Hands over nothing more. What waits stays on the disk. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#answers.acceptAll();
    await this.#working;
    this.#stopFollowing();
    this.#releasePlace();
  }

  /** The messages without an outcome, oldest first. */
  #listUnsettled(): StoredMessage[] {
    const messages = [...this.#parts.store.messages.ofSession(this.#sessionId)];
    return messages.filter(({ id, state }) => state === "waiting" && !this.#settled.has(id));
  }

  #listWaiting(): StoredMessage[] {
    return this.#listUnsettled().filter((message) => !this.#handed.has(getLogId(message)));
  }

  async #work(): Promise<void> {
    let attempts = 0;
    while (this.#isDirty && !this.#isStopped) {
      this.#isDirty = false;
      try {
        await this.#step();
        attempts = 0;
      } catch (error) {
        if (++attempts < maxAttempts && (error as { code?: unknown }).code === "closed") this.#isDirty = true;
        else await this.#giveUp(this.#listWaiting(), error);
      }
    }
  }

  async #step(): Promise<void> {
    this.#cancelTimer();
    if (this.#listUnsettled().length === 0) return this.#releaseIfIdle();
    const { session } = await this.#open();
    const isBusy = session.isStreaming;
    if (this.#resumes && !isBusy) return await this.#resume(session);
    const { debounceMs } = this.#parts.getSettings().queue;
    const step = decideNext({ waiting: this.#listWaiting(), isBusy, nowMs: this.#parts.clock.now(), debounceMs });
    switch (step.kind) {
      case "nothing":
        return this.#releaseIfIdle();
      case "wait":
        this.#cancelTimer = this.#parts.clock.setTimer(step.forMs, () => this.wake());
        this.#releasePlace();
        break;
      case "when_idle":
        this.#wakeWhenIdle(session);
        break;
      case "inject":
        if (isBusy || (await this.#takePlace(session, step.messages))) return await this.#inject(session, step);
    }
    this.#answers.acceptAll();
  }

  /** Says what the session's own queue has from before a crash. */
  async #resume(session: AgentSession): Promise<void> {
    const queued = this.#listUnsettled().filter((message) => this.#handed.has(getLogId(message)));
    if (queued.length > 0 && !(await this.#takePlace(session, queued))) return this.#answers.acceptAll();
    this.#resumes = false;
    session.runQueued();
    this.#wakeWhenIdle(session);
    this.#isDirty = true;
  }

  /** The open session, which is followed from then on. */
  async #open(): Promise<HostedSession> {
    const { hosted } = await this.#parts.openSession(this.#sessionId);
    if (hosted !== this.#followed?.hosted) this.#follow(hosted);
    await this.#followed?.ready;
    return hosted;
  }

  #follow(hosted: HostedSession): void {
    const { session } = hosted;
    this.#stopFollowing();
    this.#handed.clear();
    this.#stopFollowing = session.onSessionEvent((event) => {
      if (event.type === "entry_appended") this.#takeEntry(event.entry);
    });
    this.#followed = { hosted, ready: this.#reconcile(session) };
  }

  /** Compares what has no outcome with the session's log. */
  async #reconcile(session: AgentSession): Promise<void> {
    const unsettled = this.#listUnsettled();
    if (unsettled.length === 0) return;
    const { clock, startedAt, getSettings } = this.#parts;
    const { ttlMs } = getSettings().queue;
    const logged = await session.sessionManager.findQueued(new Set(unsettled.map(getLogId)));
    for (const message of unsettled) {
      const logId = getLogId(message);
      const recovery = decideRecovery(message, {
        logged: logged.get(logId),
        isFromBefore: message.acceptedAt < startedAt,
        ageMs: clock.now() - message.acceptedAt,
        ttlMs,
      });
      if (recovery.kind === "settle") await this.#settle([message], recovery.outcome);
      else if (recovery.kind === "queued") {
        this.#handed.add(logId);
        this.#resumes = true;
      }
    }
  }

  /** What the log says is what has happened. */
  #takeEntry(entry: SessionEntry): void {
    const isSaid = entry.type === "message" && entry.queueId !== undefined;
    if (!isSaid && entry.type !== "queue") return;
    const { queueId } = entry as { queueId: string };
    const messages = this.#listUnsettled().filter((message) => getLogId(message) === queueId);
    if (messages.length === 0) return this.#adopt(entry);
    if (entry.type === "queue" && entry.state === "accepted") return void this.#handed.add(queueId);
    this.#handed.delete(queueId);
    void this.#settle(messages, toOutcome(entry.type === "queue" ? (entry.state as "cancelled" | "refused") : "said"));
  }

  /** A message that came into the session's queue in another way, such as an edited one, is kept like the others. */
  #adopt(entry: SessionEntry): void {
    if (entry.type !== "queue" || entry.state !== "accepted" || this.#settled.has(entry.queueId)) return;
    const { store, clock, log } = this.#parts;
    this.#handed.add(entry.queueId);
    const adopted = toAdopted(entry, { sessionId: this.#sessionId, acceptedAt: clock.now() });
    store.accept(adopted).catch((error: unknown) => log(getErrorMessage(error)));
  }

  /** Whether a run may begin. If not, the loop is woken when it may. */
  async #takePlace(session: AgentSession, messages: readonly StoredMessage[]): Promise<boolean> {
    const { lanes, runs, log } = this.#parts;
    if (!this.#place) {
      const isScheduled = messages.every(({ origin }) => origin.kind === "scheduled");
      const place = lanes.request({
        sessionId: this.#sessionId,
        lanes: isScheduled ? ["global", "scheduled"] : ["global"],
        maxHoldMs: maxRunMs,
        onLost: () => {
          log(`The run of the session ${this.#sessionId} took too long and was ended.`);
          if (this.#place === place) this.#place = undefined;
          void session.abort("The run took too long.");
        },
      });
      this.#place = place;
      if (!place.isHeld) void place.given.then(() => this.wake());
    }
    if (!this.#place.isHeld) return false;
    // A run whose beginning could not be written down is only not shown as interrupted after a crash.
    await runs.begin(this.#sessionId).catch((error: unknown) => log(getErrorMessage(error)));
    return true;
  }

  #releaseIfIdle(): void {
    const session = this.#followed?.hosted.session;
    if (session?.isStreaming) this.#wakeWhenIdle(session);
    else this.#releasePlace();
  }

  #releasePlace(): void {
    this.#place?.release();
    this.#place = undefined;
  }

  /** When the run is over, its place is free again. */
  #wakeWhenIdle(session: AgentSession): void {
    if (this.#awaited === session) return;
    this.#awaited = session;
    void this.#awaitIdle(session);
  }

  async #awaitIdle(session: AgentSession): Promise<void> {
    await session.waitForIdle();
    if (this.#awaited === session) this.#awaited = undefined;
    this.wake();
  }

  async #inject(session: AgentSession, step: InjectStep): Promise<void> {
    const { store, ids } = this.#parts;
    const [first] = step.messages;
    const mayBeCommand = step.messages.length === 1 && first!.isVerbatim !== true;
    const isCommand = mayBeCommand && session.extensions?.isCommand(first!.text) === true;
    const told = isCommand ? [] : pickUntold(step.messages, this.#listUntold());
    if (isCommand || told.length > 0 || step.messages.length > 1) {
      const logId = step.messages.length > 1 ? ids() : first!.id;
      const handover = { logId, told: told.map(({ id }) => id), ...(isCommand && { isCommand }) };
      await store.handOver(
        step.messages.map(({ id }) => id),
        handover,
      );
    }
    const messages = step.messages.map(({ id }) => store.messages.get(id)!);
    const submitted = this.#submit(session, { ...step, messages }, joinTexts(messages, told));
    // A command may take as long as its dialogs are open.
    if (!isCommand) await submitted;
    this.#isDirty = true;
  }

  #listUntold(): StoredMessage[] {
    return [...this.#parts.store.messages.ofSession(this.#sessionId)].filter(({ isUntold }) => isUntold === true);
  }

  async #submit(session: AgentSession, { messages, queue, interrupt }: InjectStep, text: string): Promise<void> {
    const logId = getLogId(messages[0]!);
    const images = messages.flatMap((message) => message.images ?? []);
    this.#handed.add(logId);
    try {
      const submission = await this.#followed!.hosted.submit(text, {
        queue,
        interrupt,
        messageId: logId,
        scopes: getCommonScopes(messages),
        ...(images.length > 0 && { images }),
        ...(messages.some(({ isVerbatim }) => isVerbatim) && { expandPromptTemplates: false }),
      });
      const { disposition } = submission;
      // A run that fails tells it in its events.
      if (submission.disposition === "started") submission.outcome.catch(() => {});
      if (disposition === "handled") await this.#settle(messages, { kind: "injected" });
      for (const { id } of messages) this.#answers.settle(id, { disposition });
      this.#wakeWhenIdle(session);
    } catch (error) {
      this.#handed.delete(logId);
      if ((error as { code?: unknown }).code === "closed" && !messages[0]!.handover?.isCommand) throw error;
      await this.#giveUp(messages, error);
    }
  }

  /** Whoever still waits for the answer is told, and nothing was accepted. The others can be replayed. */
  async #giveUp(messages: readonly StoredMessage[], error: unknown): Promise<void> {
    const reason = getErrorMessage(error);
    for (const message of messages) {
      const isAnswered = !this.#answers.has(message.id);
      await this.#settle([message], isAnswered ? { kind: "dead", reason } : { kind: "cancelled", reason });
      this.#answers.fail(message.id, error);
      if (isAnswered) this.#tellLost(message, reason);
    }
    this.#releaseIfIdle();
  }

  async #drop(message: StoredMessage, session: AgentSession, isUntold: boolean): Promise<void> {
    const logId = getLogId(message);
    const reason = "Too many messages were waiting for this session.";
    const outcome: MessageOutcome = { kind: "dead", reason, ...(isUntold && { isUntold }) };
    if (this.#handed.has(logId)) {
      // It must not be taken for cancelled when the log says that it is gone.
      this.#settled.add(message.id);
      if (!(await session.removeQueued(logId))) return void this.#settled.delete(message.id);
    }
    await this.#settle([message], outcome);
    this.#answers.settle(message.id, { disposition: "accepted" });
    this.#tellLost(message, reason);
  }

  #tellLost({ text }: StoredMessage, reason: string): void {
    this.#followed?.hosted.session.notify(
      "message_not_said",
      `This message was not said: ${getFirstWords(text)} (${reason})`,
    );
  }

  async #settle(messages: readonly StoredMessage[], outcome: MessageOutcome): Promise<void> {
    const ids = messages.map(({ id }) => id);
    for (const id of ids) this.#settled.add(id);
    try {
      await this.#parts.store.settle(ids, outcome);
      for (const id of ids) this.#settled.delete(id);
    } catch (error) {
      // The session's log says it too, and is asked after a restart.
      this.#parts.log(`What became of ${ids.join(", ")} could not be written: ${getErrorMessage(error)}`);
    }
  }
}
