/** Follows the sessions that answer in channels: each answer in a session's log becomes replies, once. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import type { HostedSession } from "@tau/harness/host";
import type { SessionEntry, SessionEvent } from "@tau/protocol";
import type { Inbox } from "../inbox/inbox.ts";
import type { Account } from "./accounts.ts";
import type { ChannelOutbox } from "./outbox.ts";
import type { Conversation } from "./records.ts";
import { createReplies, formatQuestion, getReplyText, isUnfinished, listUnanswered } from "./session-replies.ts";
import type { ChannelStore } from "./store.ts";

interface FollowParts {
  store: ChannelStore;
  outbox: ChannelOutbox;
  findAccount: (accountId: string) => Account | undefined;
  /** Takes known secrets out of a text. */
  redact: (sessionId: string, text: string) => string;
  inbox: Pick<Inbox, "list" | "accept">;
  clock: Clock;
  log: (line: string) => void;
}

/** Tells the model to continue a run that was cut, so that the person gets an answer all the same. */
const continueText =
  "The gateway was restarted while you were answering. Continue where you stopped, and answer the last message.";

/** The smallest that platforms have, for an account that is not open now. */
const smallestTextLength = 2_000;

export class FollowedSessions {
  readonly #parts: FollowParts;
  /** Work for each session that is followed, one piece at a time and in order. */
  readonly #queues = new Map<string, SerialQueue>();

  constructor(parts: FollowParts) {
    this.#parts = parts;
  }

  /** Follows a session that answers in a channel, until it is closed. */
  follow(hosted: HostedSession): void {
    const { sessionId } = hosted.session;
    if (this.#queues.has(sessionId) || !this.#parts.store.table.getConversation(sessionId)) return;
    const queue = new SerialQueue();
    this.#queues.set(sessionId, queue);
    const add = (work: () => Promise<void>) => {
      queue.add(work).catch((error: unknown) => {
        this.#parts.log(`An answer of the session ${sessionId} could not be recorded: ${getErrorMessage(error)}`);
      });
    };
    let failure = "";
    const { epoch, seq } = hosted.position;
    hosted.subscribe(
      (item) => {
        if (item.kind !== "event") return;
        const { event } = item;
        if (event.type === "error") failure = event.message;
        if (event.type === "agent_start") failure = "";
        add(() => this.#take(sessionId, event, failure));
      },
      { epoch, seq },
    );
    add(async () => this.#recordMissed(sessionId, await hosted.session.sessionManager.getBranch()));
  }

  onClosed(sessionId: string): void {
    this.#queues.delete(sessionId);
  }

  /** Waits until everything that a session has said so far is recorded. */
  async settled(sessionId: string): Promise<void> {
    await this.#queues.get(sessionId)?.add(async () => {});
  }

  /** Continues a conversation whose answer a crash has cut. */
  async recover({ session }: HostedSession): Promise<void> {
    const { sessionId } = session;
    await this.settled(sessionId);
    const conversation = this.#parts.store.table.getConversation(sessionId);
    if (!conversation?.isExpecting || session.isStreaming || this.#hasWaiting(sessionId)) return;
    const branch = await session.sessionManager.getBranch();
    if (!isUnfinished(branch)) return await this.#parts.store.append({ type: "idle", sessionId });
    await this.#parts.inbox.accept({
      sessionId,
      text: continueText,
      isVerbatim: true,
      mode: "followup",
      origin: { kind: "client", deviceId: getChannelDevice(conversation.accountId), scopes: [] },
      requestKey: `continue ${sessionId}\n${branch.at(-1)?.id ?? ""}`,
    });
  }

  async #take(sessionId: string, event: SessionEvent, failure: string): Promise<void> {
    const conversation = this.#parts.store.table.getConversation(sessionId);
    if (!conversation) return;
    switch (event.type) {
      case "message_start":
        void this.#parts.findAccount(conversation.accountId)?.channel.showTyping?.(conversation.address);
        return;
      case "entry_appended":
        return await this.#record(conversation, event.entry);
      case "approval_requested": {
        const { text, buttons } = formatQuestion(event.approval);
        return await this.#say(conversation, text, { id: `question/${event.approval.id}`, buttons });
      }
      case "agent_end":
        // The gateway stops: the answer is given after the next start.
        if (event.terminationReason === "gateway_disconnected") return;
        if (event.terminationReason === "error") {
          const id = `end/${sessionId}/${this.#parts.clock.now()}`;
          await this.#say(conversation, `The run failed: ${failure}`, { id });
        }
        if (!this.#hasWaiting(sessionId)) await this.#parts.store.append({ type: "idle", sessionId });
        return;
      default:
        return;
    }
  }

  /** Records what the log has from before the session was followed. */
  async #recordMissed(sessionId: string, branch: readonly SessionEntry[]): Promise<void> {
    const conversation = this.#parts.store.table.getConversation(sessionId);
    for (const entry of listUnanswered(branch, conversation?.answeredEntryId)) {
      if (conversation) await this.#record(conversation, entry);
    }
  }

  async #record(conversation: Conversation, entry: SessionEntry): Promise<void> {
    const { store, outbox, redact } = this.#parts;
    const { sessionId } = conversation;
    const text = getReplyText(entry);
    if (text === "") return;
    const replies = createReplies(redact(sessionId, text), `${sessionId}/${entry.id}`, this.#getOptions(conversation));
    await store.append({ type: "answered", sessionId, entryId: entry.id, replies });
    outbox.onRecorded(replies);
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
    return this.#parts.inbox.list({ sessionId, state: "waiting" }).length > 0;
  }
}

/** An account counts as a device of its own. */
export const getChannelDevice = (accountId: string): string => `channel ${accountId}`;
