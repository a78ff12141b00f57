/** Follows the sessions that answer in channels: each answer in a session's log becomes replies, once. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import type { HostedSession } from "@tau/harness/host";
import type { Approval, SessionEntry, SessionEvent, TerminationReason } from "@tau/protocol";
import type { Inbox } from "../inbox/inbox.ts";
import { getLogId } from "../inbox/message.ts";
import type { ChannelLog } from "../log-lines.ts";
import type { Account } from "./accounts.ts";
import { formatFailure, type RunFailure } from "./format-failure.ts";
import type { ChannelOutbox } from "./outbox.ts";
import { type Conversation, toIdentity } from "./records.ts";
import { ProgressSigns } from "./progress-signs.ts";
import {
  createDraft,
  createReplies,
  formatQuestion,
  getReplyText,
  getTextId,
  isUnfinished,
  listUnanswered,
} from "./session-replies.ts";
import type { ChannelStore } from "./store.ts";
import { AnswerStream } from "./stream-answer.ts";

interface FollowParts {
  store: ChannelStore;
  outbox: ChannelOutbox;
  findAccount: (accountId: string) => Account | undefined;
  /** Takes known secrets out of a text. */
  redact: (sessionId: string, text: string) => string;
  inbox: Pick<Inbox, "list" | "hasUnsettled" | "accept">;
  /** Whether other nodes of a cluster continue what this one loses. */
  isShared: boolean;
  clock: Clock;
  log: ChannelLog;
}

/** Tells the model to continue a run that was cut, so that the person gets an answer all the same. */
const continueText =
  "The gateway was restarted while you were answering. Continue where you stopped, and answer the last message.";

/** Below an answer that ended before it was complete. */
const interruptedText = "(The answer ends here, because the run was ended.)";

/** The smallest that platforms have, for an account that is not open now. */
const smallestTextLength = 2_000;

/** The events that something is done about, one after the other. */
const takenEvents: ReadonlySet<SessionEvent["type"]> = new Set([
  "message_start",
  "tool_execution_start",
  "entry_appended",
  "approval_requested",
  "approval_resolved",
  "agent_end",
]);

/** A session that is followed. */
interface Followed {
  readonly session: HostedSession["session"];
  /** Work for the session, one piece at a time and in order. */
  readonly queue: SerialQueue;
  /** The answer that is being written, or was written last. */
  stream?: AnswerStream;
  /** The person whose message the run answers. Others may write meanwhile. Undefined before it has said one. */
  answered?: string | undefined;
  /** How the last run ended, unless another has begun since, or it is resumed with the answer to a question. */
  over?: TerminationReason | undefined;
}

/** The run that an event belongs to. */
interface RunFacts {
  readonly failure: RunFailure | undefined;
  readonly stream: AnswerStream | undefined;
  /** See `Followed.answered`. */
  readonly answered: string | undefined;
}

export class FollowedSessions {
  readonly signs: ProgressSigns;
  readonly #parts: FollowParts;
  readonly #followed = new Map<string, Followed>();
  /** Counts the messages of each session that are recorded as received and not in the inbox yet. */
  readonly #arriving = new Map<string, number>();

  constructor(parts: FollowParts) {
    this.#parts = parts;
    this.signs = new ProgressSigns(parts.findAccount);
  }

  /** Follows a session that answers in a channel, until it is closed. */
  follow(hosted: HostedSession): void {
    const { sessionId } = hosted.session;
    const { accountId } = this.#parts.store.table.getConversation(sessionId) ?? {};
    if (this.#followed.has(sessionId) || accountId === undefined) return;
    const followed: Followed = { session: hosted.session, queue: new SerialQueue() };
    this.#followed.set(sessionId, followed);
    const add = (work: () => Promise<void>) => this.#add(followed, work);
    let failure: RunFailure | undefined;
    const { epoch, seq } = hosted.position;
    hosted.subscribe(
      (item) => {
        if (item.kind !== "event") return;
        const { event } = item;
        if (event.type === "error") failure = event;
        if (event.type === "agent_start") {
          failure = undefined;
          delete followed.over;
        }
        if (event.type === "agent_end" && event.detail !== "asked") followed.over = event.terminationReason;
        this.#followPerson(followed, event);
        if (event.type === "text_delta") return followed.stream?.add(event.delta);
        this.#followStream(followed, event);
        const { stream, answered } = followed;
        if (takenEvents.has(event.type)) add(() => this.#take(followed, event, { failure, stream, answered }));
      },
      { epoch, seq },
    );
    add(async () => this.#recordMissed(sessionId, await hosted.session.sessionManager.getBranch()));
  }

  onClosed(sessionId: string): void {
    this.#followed.get(sessionId)?.stream?.end();
    this.#followed.delete(sessionId);
    this.signs.forget(sessionId);
  }

  /**
   * Keeps a session from counting as idle while a message for it is on its way into the inbox: after a crash its answer would not be
   * looked for. Returns what ends that. The run for the message may be over by then.
   */
  expect(sessionId: string): () => void {
    this.#arriving.set(sessionId, (this.#arriving.get(sessionId) ?? 0) + 1);
    return () => {
      const left = this.#arriving.get(sessionId)! - 1;
      if (left > 0) this.#arriving.set(sessionId, left);
      else this.#arriving.delete(sessionId);
      const followed = this.#followed.get(sessionId);
      if (followed) this.#add(followed, () => this.#endIfOver(followed));
    };
  }

  /** Whether a run of the session answers a person. */
  isAnswering(sessionId: string): boolean {
    const { answered, over } = this.#followed.get(sessionId) ?? {};
    return answered !== undefined && over === undefined;
  }

  /** Waits until everything that a session has said so far is recorded. */
  async settled(sessionId: string): Promise<void> {
    await this.#followed.get(sessionId)?.queue.add(async () => {});
  }

  /** Continues a conversation whose answer a crash has cut. */
  async recover({ session }: HostedSession): Promise<void> {
    const { sessionId } = session;
    await this.settled(sessionId);
    const conversation = this.#parts.store.table.getConversation(sessionId);
    if (!conversation?.isExpecting || session.isStreaming || this.#hasWaiting(sessionId)) return;
    const questions = await session.getQuestions();
    // A run that ended with questions is resumed by their answers. One that was resumed by now is in progress.
    if (questions.length > 0) return await this.#askAgain(conversation, questions);
    if ((await session.resumeAnswered()) || session.isStreaming) return;
    // They have answers, and whoever gave these resumes the run.
    if ((await session.sessionManager.unfinishedCalls()).length > 0) return;
    const branch = await session.sessionManager.getBranch();
    if (!isUnfinished(branch)) return await this.#recordIdle(sessionId);
    await this.#parts.inbox.accept({
      sessionId,
      text: continueText,
      isVerbatim: true,
      mode: "followup",
      origin: { kind: "client", deviceId: getChannelDevice(conversation.accountId), scopes: [] },
      requestKey: `continue ${sessionId}\n${branch.at(-1)?.id ?? ""}`,
    });
  }

  #add({ queue, session: { sessionId } }: Followed, work: () => Promise<void>): void {
    queue.add(work).catch((error: unknown) => {
      const accountId = this.#parts.store.table.getConversation(sessionId)?.accountId ?? "";
      this.#parts.log(
        `An answer of the session ${sessionId} could not be recorded: ${getErrorMessage(error)}`,
        accountId,
      );
    });
  }

  /** Asks again what was answered before a crash that lost the answer. Nobody knows that it is open. */
  async #askAgain(conversation: Conversation, questions: readonly Approval[]): Promise<void> {
    const { store, clock } = this.#parts;
    for (const question of questions) {
      const asked = store.table.getAsked(question.id);
      if (asked && !asked.isResolved) continue;
      await this.#ask(conversation, question, {
        answered: asked?.approver,
        id: `question/${question.id}/${clock.now()}`,
      });
    }
  }

  /** Remembers whom a run answers, and so who may answer its questions. */
  #followPerson(followed: Followed, event: SessionEvent): void {
    const { sessionId } = followed.session;
    switch (event.type) {
      case "agent_start":
        followed.answered = undefined;
        return;
      case "entry_appended": {
        if (event.entry.type !== "message" || event.entry.queueId === undefined) return;
        const { queueId } = event.entry;
        const message = this.#parts.inbox
          .list({ sessionId, state: "waiting" })
          .findLast((each) => getLogId(each) === queueId);
        // Somebody who steers a run does not take it over.
        const isSteered = message?.mode === "steer" && followed.answered !== undefined;
        if (message?.origin.identity !== undefined && !isSteered) followed.answered = message.origin.identity;
        return;
      }
      default:
        return;
    }
  }

  /** Begins to show an answer with its first piece, and ends with its last. */
  #followStream(followed: Followed, event: SessionEvent): void {
    if (event.type === "message_end" || event.type === "agent_end") followed.stream?.end();
    if (event.type !== "message_start") return;
    followed.stream?.end();
    const stream = this.#openStream(followed, event.messageId);
    if (stream) followed.stream = stream;
    else delete followed.stream;
  }

  #openStream({ session: { sessionId }, queue }: Followed, messageId: string): AnswerStream | undefined {
    const { store, outbox, findAccount, clock, log } = this.#parts;
    const conversation = store.table.getConversation(sessionId);
    const account = conversation && findAccount(conversation.accountId);
    const { minEditIntervalMs, maxTextLength } = account?.channel.limits ?? {};
    if (!account?.settings.stream || !account.channel.edit || minEditIntervalMs === undefined) return undefined;
    const stream: AnswerStream = new AnswerStream({
      clock,
      limits: { minEditIntervalMs, maxTextLength: maxTextLength ?? smallestTextLength },
      // In the order of the session's other work, so that no part is opened after the answer was recorded.
      open: (text, index) =>
        queue.add(async () =>
          stream.isEnded ? undefined : await this.#openDraft(sessionId, text, { messageId, index }),
        ),
      edit: (id, text) => outbox.showDraft(id, text),
      log: (line) => log(line, account.accountId),
    });
    return stream;
  }

  /** Returns the id of the part. An answer that failed on its way is written again where people see it. */
  async #openDraft(
    sessionId: string,
    text: string,
    { messageId, index }: { messageId: string; index: number },
  ): Promise<string | undefined> {
    const { store, outbox } = this.#parts;
    const conversation = store.table.getConversation(sessionId);
    if (!conversation) return undefined;
    const open = store.table.listOpen(sessionId);
    const known = open[index];
    if (known) {
      void outbox.showDraft(known.id, text);
      return known.id;
    }
    const id = open[0] ? getTextId(open[0]) : `draft/${sessionId}/${messageId}`;
    const draft = createDraft(text, { id, index }, this.#getOptions(conversation));
    await outbox.add([draft]);
    return draft.id;
  }

  async #take(followed: Followed, event: SessionEvent, { failure, stream, answered }: RunFacts): Promise<void> {
    const { session } = followed;
    const { sessionId } = session;
    const conversation = this.#parts.store.table.getConversation(sessionId);
    if (!conversation) return;
    switch (event.type) {
      case "message_start":
      case "tool_execution_start":
        void this.#parts.findAccount(conversation.accountId)?.channel.showTyping?.(conversation.address);
        return;
      case "entry_appended":
        return await this.#record(conversation, event.entry);
      case "approval_requested":
        return await this.#ask(conversation, event.approval, { answered, id: `question/${event.approval.id}` });
      case "approval_resolved":
        return await this.#parts.store.append({ type: "resolved", approvalId: event.approvalId });
      case "agent_end":
        if (!this.#isItsToGive(session, event.terminationReason)) return;
        await this.#closeDrafts(conversation, stream?.text);
        if (failure && event.terminationReason === "error") await this.#sayFailed(conversation, failure);
        return await this.#endIfOver(followed);
      default:
        return;
    }
  }

  /** Records who may answer a question before anybody can see it. `answered`: the person whose message the run answers. */
  async #ask(
    conversation: Conversation,
    approval: Approval,
    { answered, id }: { answered: string | undefined; id: string },
  ): Promise<void> {
    const { store } = this.#parts;
    const { sessionId, accountId, senderId } = conversation;
    // A run that continues or is resumed says no message of a person.
    const approver = answered ?? store.table.findApprover(sessionId) ?? toIdentity(accountId, senderId);
    await store.append({ type: "asked", question: { sessionId, approvalId: approval.id, approver } });
    const { text, buttons } = formatQuestion(approval);
    await this.#say(conversation, text, { id, buttons });
  }

  /** Whether this process gives the answer of a run that has ended. */
  #isItsToGive(session: Followed["session"], reason: TerminationReason): boolean {
    // The gateway stops: the answer is given after the next start.
    if (reason === "gateway_disconnected") return false;
    // Another node has the session, and the answer is its to give: this one's failure is none.
    return !(this.#parts.isShared && session.readOnly?.reason === "overtaken");
  }

  /** Records that nothing is left to be answered. A message that waits has another run, which ends later. */
  async #endIfOver({ session, over }: Followed): Promise<void> {
    const { sessionId } = session;
    if (over === undefined || !this.#isItsToGive(session, over) || this.#hasWaiting(sessionId)) return;
    this.signs.onOver(sessionId, over === "error" ? "failed" : "done");
    // What the session has queued itself is answered by its next run.
    if (session.queue.steering.length + session.queue.followUps.length > 0) return;
    await this.#recordIdle(sessionId);
  }

  async #recordIdle(sessionId: string): Promise<void> {
    const { sourceMessageId } = this.#parts.store.table.getConversation(sessionId) ?? {};
    await this.#parts.store.append({
      type: "idle",
      sessionId,
      ...(sourceMessageId !== undefined && { sourceMessageId }),
    });
  }

  async #sayFailed(conversation: Conversation, failure: RunFailure): Promise<void> {
    const { clock, log } = this.#parts;
    const { sessionId, accountId } = conversation;
    log(`The run of the session ${sessionId} failed: ${failure.message}`, accountId);
    await this.#say(conversation, formatFailure(failure), { id: `end/${sessionId}/${clock.now()}` });
  }

  /** Records what the log has from before the session was followed. */
  async #recordMissed(sessionId: string, branch: readonly SessionEntry[]): Promise<void> {
    const conversation = this.#parts.store.table.getConversation(sessionId);
    for (const entry of listUnanswered(branch, conversation?.answeredEntryId)) {
      if (conversation) await this.#record(conversation, entry);
    }
    // Nobody completes what the last process began to show: the run is continued with another answer.
    if (conversation) await this.#closeDrafts(conversation, undefined);
  }

  async #record(conversation: Conversation, entry: SessionEntry): Promise<void> {
    const { store, outbox, redact } = this.#parts;
    const { sessionId } = conversation;
    const text = getReplyText(entry);
    if (text === "") return;
    const [draft] = store.table.listOpen(sessionId);
    const id = draft ? getTextId(draft) : `${sessionId}/${entry.id}`;
    const replies = createReplies(redact(sessionId, text), id, this.#getOptions(conversation));
    await store.append({ type: "answered", sessionId, entryId: entry.id, replies });
    outbox.onRecorded(replies);
    // An answer that was begun again may be shorter.
    await this.#closeDrafts(conversation, undefined);
  }

  /** Ends what is shown of an answer that nobody completes. `text` is what there is of it, if that is known. */
  async #closeDrafts(conversation: Conversation, text: string | undefined): Promise<void> {
    const { store, outbox } = this.#parts;
    const [draft] = store.table.listOpen(conversation.sessionId);
    if (draft && text) {
      await outbox.add(
        createReplies(`${text}\n\n${interruptedText}`, getTextId(draft), this.#getOptions(conversation)),
      );
    }
    for (const { id } of store.table.listOpen(conversation.sessionId)) await outbox.dropDraft(id);
  }

  async #say(
    conversation: Conversation,
    text: string,
    { id, buttons }: { id: string; buttons?: ReturnType<typeof formatQuestion>["buttons"] },
  ): Promise<void> {
    const { outbox, redact } = this.#parts;
    const options = { ...this.#getOptions(conversation), ...(buttons && { buttons }) };
    await outbox.add(createReplies(redact(conversation.sessionId, text), id, options));
  }

  #getOptions(conversation: Conversation) {
    const { findAccount, clock } = this.#parts;
    const limits = findAccount(conversation.accountId)?.channel.limits;
    return { conversation, maxTextLength: limits?.maxTextLength ?? smallestTextLength, nowMs: clock.now() };
  }

  #hasWaiting(sessionId: string): boolean {
    return this.#arriving.has(sessionId) || this.#parts.inbox.hasUnsettled(sessionId);
  }
}

/** An account counts as a device of its own. */
export const getChannelDevice = (accountId: string): string => `channel ${accountId}`;
