/**
 * The messages of one session, from the moment they are accepted until the session's log has them. One loop looks at what
 * waits and does the next step; everything that may change the answer wakes it.
 */
import type { Ids } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { AgentSession } from "@tau/harness";
import type { HostedSession } from "@tau/harness/host";
import { GatewayError, isGatewayError } from "../errors.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { RunRecords } from "../lanes/run-records.ts";
import { SessionExecutionQueue } from "../lanes/session-execution-queue.ts";
import { type Answer, Answers } from "./answers.ts";
import { decideAdmission, decideNext, type InjectStep, joinTexts, pickUntold } from "./decide.ts";
import { getCommonScopes, getLogId, type InboxMessage, type MessageOutcome, type StoredMessage } from "./message.ts";
import { RunPlace, type RunSender } from "./run-place.ts";
import { SessionFollower, type SessionFollowerParts } from "./session-follower.ts";
import { SessionMessages } from "./session-messages.ts";
import type { WaitingBytes } from "./waiting-bytes.ts";

export interface SessionInboxParts extends SessionFollowerParts {
  lanes: Lanes;
  runs: RunRecords;
  ids: Ids;
  /** Called when nothing waits for the session any more, or its messages are left to another node. */
  onIdle: (sessionId: string) => void;
  /** Counts the waiting bytes of each sender, over all sessions. */
  waitingBytes: WaitingBytes;
  /** Called when the session cannot be used here, because another node of the cluster runs it. */
  leaveToOthers?: (sessionId: string) => void;
}

export type MessageDraft = Omit<InboxMessage, "id" | "acceptedAt">;

/** How often a session that is closed in the wrong moment is opened again at once. */
const maxAttempts = 3;
/** How long to wait when a session cannot be used for a reason that passes. Doubles each time. */
const firstRetryMs = 1_000;
const maxRetryMs = 30_000;

export class SessionInbox {
  readonly #sessionId: string;
  readonly #parts: SessionInboxParts;
  readonly #messages: SessionMessages;
  readonly #follower: SessionFollower;
  readonly #place: RunPlace;
  readonly #answers: Answers;
  readonly #accepting = new SessionExecutionQueue();
  #acceptCount = 0;
  #isDirty = false;
  #working: Promise<void> | undefined;
  #isStopped = false;
  #cancelTimer = () => {};
  /** How often in a row the session could not be used. */
  #failures = 0;

  constructor(sessionId: string, parts: SessionInboxParts) {
    this.#sessionId = sessionId;
    this.#parts = parts;
    const { store, clock, lanes, runs, log, onGivenUp } = parts;
    this.#messages = new SessionMessages(sessionId, { store, clock, log, onGivenUp, onWritten: () => this.wake() });
    this.#follower = new SessionFollower(sessionId, this.#messages, parts);
    this.#place = new RunPlace(sessionId, { lanes, runs, log, wake: () => this.wake() });
    this.#answers = new Answers(clock);
  }

  get hasUnsettled(): boolean {
    return this.#messages.listUnsettled().length > 0;
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

  /** Takes a message back. False if it is too late. */
  async cancel(message: StoredMessage): Promise<boolean> {
    const outcome: MessageOutcome = { kind: "cancelled", reason: "It was cancelled." };
    if (message.state === "waiting") {
      // The session's log may know it from before a crash. One that cannot be opened does not matter.
      const hosted = await this.#follower.open().catch(() => undefined);
      if (!this.#messages.listUnsettled().some(({ id }) => id === message.id)) return false;
      if (this.#follower.isHanded(message)) return (await hosted?.session.removeQueued(getLogId(message))) ?? false;
    }
    await this.#messages.mustSettle(message, outcome);
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

  /** Hands over nothing more. What waits stays on the disk. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#messages.stop();
    this.#answers.acceptAll();
    // What waits for a place must not get it any more.
    if (!this.#place.isHeld) this.#place.release();
  }

  async #accept(
    draft: MessageDraft,
    replaces: string | undefined,
  ): Promise<{ messageId: string; answer: Promise<Answer> }> {
    if (this.#isStopped) throw new GatewayError("unavailable", "The gateway is stopping. Try again later.");
    const { store, clock, ids } = this.#parts;
    const { queue, devices } = this.#parts.getSettings();
    // Somebody else may have asked for the same meanwhile.
    if (replaces !== undefined && store.messages.get(replaces)?.state !== "dead") {
      throw new GatewayError("conflict", "This message was replayed already.");
    }
    const { session } = await this.#follower.open(draft.origin.deviceId);
    // A message for a session that has no file yet would have nowhere to go after a crash.
    if (session.sessionManager.getEntryCount() === 0) await session.persist();
    const admission = decideAdmission(this.#messages.listUnsettled(), queue);
    if (admission.kind === "refuse") {
      const text = `${queue.cap} messages wait for this session already. Wait until some of them were said.`;
      throw new GatewayError("rate_limited", text);
    }
    const message: StoredMessage = { ...draft, id: ids(), acceptedAt: clock.now(), state: "waiting" };
    const getStored = (sender: string) => store.messages.getWaitingBytes(sender);
    const release = this.#parts.waitingBytes.reserve(draft, getStored, devices.maxWaitingBytes);
    await store.accept(message, replaces).finally(release);
    const answer = this.#answers.add(message.id);
    for (const dropped of admission.drops) await this.#drop(dropped, queue.drop === "summarise");
    this.wake();
    return { messageId: message.id, answer };
  }

  /** Takes a message back. If the session keeps it, it is sent all the same: the one in its place is accepted already. */
  async #drop(message: StoredMessage, isUntold: boolean): Promise<void> {
    const reason = "Too many messages were waiting for this session.";
    const outcome: MessageOutcome = { kind: "dead", reason, ...(isUntold && { isUntold }) };
    const { session } = this.#follower;
    const remove = async () =>
      !this.#follower.isHanded(message) || (await session?.removeQueued(getLogId(message))) === true;
    const isDropped = await this.#messages.settleIf(message, outcome, remove).catch((error: unknown) => {
      this.#parts.log(`A message could not be taken back: ${getErrorMessage(error)}`);
      return false;
    });
    if (isDropped) this.#answers.settle(message.id, { disposition: "accepted" });
  }

  /** A session that nothing waits for may be closed, and is then forgotten: the next message begins anew. */
  #leaveIfIdle(): void {
    if (this.#isStopped || this.#acceptCount > 0 || this.#place.isWanted || !this.#messages.isEmpty) return;
    this.#isStopped = true;
    this.#follower.stop();
    this.#parts.onIdle(this.#sessionId);
  }

  /** Leaves the messages to the node that runs the session: it sends them, or knows from its log that they were sent. */
  #leaveToOthers(leave: (sessionId: string) => void): void {
    this.stop();
    this.#place.release();
    this.#follower.stop();
    this.#parts.onIdle(this.#sessionId);
    leave(this.#sessionId);
  }

  async #work(): Promise<void> {
    let attempts = 0;
    while (this.#isDirty && !this.#isStopped) {
      this.#isDirty = false;
      try {
        await this.#step();
        attempts = 0;
        this.#failures = 0;
      } catch (error) {
        if (this.#parts.leaveToOthers && isElsewhere(error)) this.#leaveToOthers(this.#parts.leaveToOthers);
        else if (++attempts < maxAttempts && isClosed(error)) this.#isDirty = true;
        else if (isPassing(error)) await this.#tryLater(error);
        else await this.#giveUp(this.#follower.listWaiting(), error);
      }
    }
  }

  async #step(): Promise<void> {
    this.#cancelTimer();
    if (this.#messages.listUnsettled().length === 0) return this.#releaseIfIdle();
    const hosted = await this.#follower.open();
    const { session } = hosted;
    const isBusy = session.isStreaming;
    if (this.#follower.hasLeftovers && !isBusy) {
      if (this.#place.take(session, getSender(this.#messages.listUnsettled()))) this.#resume(hosted);
      return this.#answers.acceptAll();
    }
    const [waiting, { debounceMs }] = [this.#follower.listWaiting(), this.#parts.getSettings().queue];
    const step = decideNext({ waiting, isBusy, nowMs: this.#parts.clock.now(), debounceMs });
    switch (step.kind) {
      case "nothing":
        return this.#releaseIfIdle();
      case "wait":
        this.#cancelTimer = this.#parts.clock.setTimer(step.forMs, () => this.wake());
        this.#place.release();
        return this.#answers.acceptAll();
      case "when_idle":
        this.#place.wakeWhenIdle(session);
        return this.#answers.acceptAll();
      case "inject":
        // A run that a command begins waits for a place itself.
        if (isBusy || isCommand(session, step) || this.#place.take(session, getSender(step.messages)))
          await this.#inject(hosted, step);
        // A place that is free is there in a moment.
        else if (!this.#place.isHeld) this.#answers.acceptAll();
    }
  }

  /** Says what the session's own queue has from before a crash. */
  #resume({ session }: HostedSession): void {
    this.#follower.hasLeftovers = false;
    const queued = this.#messages.listUnsettled().filter((message) => this.#follower.isHanded(message));
    if (queued.length > 0) session.runQueued(getCommonScopes(queued));
    this.#place.wakeWhenIdle(session);
    this.#isDirty = true;
  }

  #releaseIfIdle(): void {
    const { session } = this.#follower;
    if (session?.isStreaming) this.#place.wakeWhenIdle(session);
    else this.#place.release();
  }

  async #inject(hosted: HostedSession, step: InjectStep): Promise<void> {
    const { store, ids } = this.#parts;
    const messageIds = step.messages.map(({ id }) => id);
    const [first] = step.messages;
    const isCommandStep = isCommand(hosted.session, step);
    const told = isCommandStep ? [] : pickUntold(step.messages, this.#messages.listUntold());
    const logId = messageIds.length > 1 ? ids() : first!.id;
    // From now on they cannot be cancelled.
    this.#follower.markHanded([...step.messages.map(getLogId), logId]);
    try {
      if (isCommandStep || told.length > 0 || messageIds.length > 1) {
        const handover = { logId, told: told.map(({ id }) => id), ...(isCommandStep && { isCommand: true }) };
        await store.handOver(messageIds, handover);
      }
      const submitted = this.#submit(hosted, { ...step, logId, text: joinTexts(step.messages, told) });
      // A command may take as long as its dialogs are open, and others need not wait.
      if (isCommandStep) submitted.catch((error: unknown) => this.#giveUp(step.messages, error));
      else await submitted;
    } catch (error) {
      this.#follower.unmarkHanded([...step.messages.map(getLogId), logId]);
      if (this.#isStopped || isPassing(error) || isElsewhere(error)) throw error;
      await this.#giveUp(step.messages, error);
    }
    this.#isDirty = true;
  }

  async #submit(
    hosted: HostedSession,
    { messages, queue, interrupt, logId, text }: InjectStep & { logId: string; text: string },
  ): Promise<void> {
    const images = messages.flatMap((message) => message.images ?? []);
    const sender = messages.find((message) => message.sender !== undefined)?.sender;
    const submission = await hosted.submit(text, {
      queue,
      interrupt,
      messageId: logId,
      scopes: getCommonScopes(messages),
      ...(images.length > 0 && { images }),
      ...(sender !== undefined && { sender }),
      ...(messages.some(({ isVerbatim }) => isVerbatim) && { expandPromptTemplates: false }),
    });
    const { disposition, notices } = submission;
    // A run that fails says so in its events.
    if (disposition === "started") submission.outcome.catch(() => {});
    if (disposition === "handled") await this.#messages.settle(messages, { kind: "injected" });
    for (const { id } of messages) this.#answers.settle(id, { disposition, ...(notices && { notices: [...notices] }) });
    this.#place.wakeWhenIdle(hosted.session);
  }

  /** Fails the answers that senders still wait for. What was accepted is tried again, until it is too old. */
  async #tryLater(error: unknown): Promise<void> {
    const { clock, getSettings, log } = this.#parts;
    const expiredMs = clock.now() - getSettings().queue.ttlMs;
    const isLost = ({ id, acceptedAt }: StoredMessage) => this.#answers.has(id) || acceptedAt <= expiredMs;
    await this.#giveUp(this.#follower.listWaiting().filter(isLost), error);
    if (this.#isStopped || this.#follower.listWaiting().length === 0) return;
    const retryMs = Math.min(firstRetryMs * 2 ** this.#failures++, maxRetryMs);
    log(`Messages for the session ${this.#sessionId} are tried again in ${retryMs} ms: ${getErrorMessage(error)}`);
    this.#cancelTimer = clock.setTimer(retryMs, () => this.wake());
  }

  /** Fails the answers that senders still wait for: nothing was accepted. The other messages can be replayed. */
  async #giveUp(messages: readonly StoredMessage[], error: unknown): Promise<void> {
    // What waits when the gateway stops is looked at when it is started again.
    if (this.#isStopped) return;
    const reason = getErrorMessage(error);
    for (const message of messages) {
      const isAnswered = !this.#answers.has(message.id);
      await this.#messages.settle([message], { kind: isAnswered ? "dead" : "cancelled", reason });
      this.#answers.fail(message.id, error);
    }
    this.#releaseIfIdle();
  }
}

/** Whether it is a command of an extension, which is no message and begins no run by itself. */
function isCommand(session: AgentSession, { messages }: InjectStep): boolean {
  const [message, ...others] = messages;
  return others.length === 0 && message!.isVerbatim !== true && session.isExtensionCommand(message!.text);
}

/** Finds the sender that the run of these messages is for: the first message decides. */
const getSender = (messages: readonly StoredMessage[]): RunSender => ({
  isScheduled: messages.length > 0 && messages.every(({ origin }) => origin.kind === "scheduled"),
  owner: messages[0]?.origin.deviceId ?? "",
});

/** Error codes of a session that another node runs or has taken over. */
const elsewhereCodes: readonly unknown[] = ["moved", "overtaken", "read_only"];

const isElsewhere = (error: unknown): boolean => elsewhereCodes.includes((error as { code?: unknown }).code);

const isClosed = (error: unknown): boolean => (error as { code?: unknown }).code === "closed";

/** Whether the session may be usable in a moment: it is being closed, or the cluster cannot say now who runs it. */
const isPassing = (error: unknown): boolean =>
  isClosed(error) || (isGatewayError(error) && error.code === "unavailable");
