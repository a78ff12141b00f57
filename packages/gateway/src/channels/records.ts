/** The records of the channels, and the state that they lead to. Pure. */
import type { QueueMode } from "@tau/protocol/gateway";
import type { ChannelAddress, ChannelButton, Peer } from "@tau/extensions";

/** A message to a platform: a part of an answer, a file, or a question to a person. */
export interface StoredReply {
  /** Made of the entry that it comes from, so that no part of an answer is recorded twice. */
  readonly id: string;
  readonly sessionId: string;
  readonly accountId: string;
  readonly address: ChannelAddress;
  readonly text: string;
  readonly replyTo?: string;
  readonly buttons?: readonly ChannelButton[];
  /** A file of the workspace instead of a text: its path when it was sent, and its name for the receiver. */
  readonly file?: { readonly path: string; readonly name: string; readonly mimeType: string };
  /** Milliseconds since the epoch. */
  readonly recordedAt: number;
  /** The answer is still being written: people see what there is. Recorded again without this when it is complete. */
  readonly isOpen?: true;
}

/**
 * `sending`: an attempt began, and how it ended is not known. `shown`: people see a part of it, and the rest is not written yet.
 * `uncertain` and `refused` ones are not sent again by themselves.
 */
type ReplyState = "waiting" | "sending" | "shown" | "uncertain" | "refused";

export interface OutboxReply extends StoredReply {
  readonly state: ReplyState;
  readonly attempts: number;
  /** When the first attempt began that may have delivered it, in milliseconds since the epoch. */
  readonly uncertainSince?: number;
  /** It was sent before it was complete, so that what people see may have to be edited. */
  readonly isDraft?: true;
  /** The message that people see. It is edited instead of sending another one. */
  readonly messageId?: string;
  /** The message that people saw cannot be edited any more: a new one is sent. */
  readonly isReplaced?: true;
  /** Why it is uncertain or was refused. */
  readonly reason?: string;
}

/** A session that answers in a channel, and where. */
export interface Conversation {
  readonly sessionId: string;
  /** Messages with this key are said in this session; see `getSessionKey`. */
  readonly key: string;
  readonly accountId: string;
  /** The conversation that the last message came from. Answers go there. */
  readonly address: ChannelAddress;
  readonly sourceMessageId: string;
  readonly peer: Peer;
  /** The identity of who wrote the last message. */
  readonly senderId: string;
  /** The last answer in the session's log whose replies are recorded. */
  readonly answeredEntryId?: string;
  /** Whether a message was accepted whose run is not known to be over. */
  readonly isExpecting: boolean;
}

/** A question of the policy that people of a conversation were asked. */
interface AskedQuestion {
  readonly sessionId: string;
  readonly approvalId: string;
  /** The identity of the person who may answer; see `toIdentity`. */
  readonly approver: string;
  /** It has an answer, and the run that it belongs to is not known to be over. */
  readonly isResolved?: true;
}

/** Identities are unique in an account only. */
export const toIdentity = (accountId: string, senderId: string): string => `${accountId}\n${senderId}`;

export type ChannelRecord =
  | {
      type: "received";
      conversation: Omit<Conversation, "answeredEntryId" | "isExpecting">;
    }
  /** An answer of the session's log, as replies. */
  | { type: "answered"; sessionId: string; entryId: string; replies: readonly StoredReply[] }
  /** Messages that are no answer of the log. */
  | { type: "replies"; replies: readonly StoredReply[] }
  /** Messages that come from elsewhere, such as a schedule: those of a source are taken once. */
  | { type: "told"; source: string; replies: readonly StoredReply[] }
  | { type: "asked"; question: AskedQuestion }
  | { type: "resolved"; approvalId: string }
  /**
   * Nothing runs or waits in the session, and no question of it is open. `sourceMessageId` is the last message that was known
   * then: another node of a cluster may have received one since.
   */
  | { type: "idle"; sessionId: string; sourceMessageId?: string }
  | { type: "attempt"; id: string; at: number }
  | { type: "sent"; id: string }
  /** A part of a reply that is being written is on the platform. */
  | { type: "shown"; id: string; messageId: string }
  /** The attempt is known to have delivered nothing. `isReplaced`: nor can the message be edited that is there. */
  | { type: "not_sent"; id: string; isReplaced?: true }
  | { type: "over"; id: string; state: "uncertain" | "refused"; reason: string }
  | { type: "dropped"; id: string }
  /** The next message with this key begins a session. */
  | { type: "renewed"; key: string; generation: number }
  /** Says what happens to messages with this key while a run is in progress. */
  | { type: "queue"; key: string; mode: QueueMode }
  /** Records the people who may write and those who have a code; not where these are in a file. See `ChannelPeers`. */
  | { type: "peers"; peers: unknown }
  /** Only in a snapshot. */
  | { type: "state"; conversation: Conversation }
  | { type: "kept"; reply: OutboxReply };

const maxConversations = 20_000;
/** How many replies that are not sent again are kept for people to look at. */
const maxOver = 1_000;
/** How many sources of messages are remembered. */
const maxSources = 1_000;
/** How many questions are remembered that people may answer. */
const maxAsked = 10_000;

export class ChannelTable {
  readonly #conversations = new Map<string, Conversation>();
  readonly #sessionsByKey = new Map<string, string>();
  readonly #replies = new Map<string, OutboxReply>();
  /** By the id of the question. */
  readonly #asked = new Map<string, AskedQuestion>();
  /** How often people began a new session, by key. */
  readonly #generations = new Map<string, number>();
  readonly #queueModes = new Map<string, QueueMode>();
  /** Oldest first. */
  readonly #sources = new Set<string>();
  #peers: unknown;

  getConversation(sessionId: string): Conversation | undefined {
    return this.#conversations.get(sessionId);
  }

  /** Finds the session that answers messages with this key. */
  findByKey(key: string): Conversation | undefined {
    const sessionId = this.#sessionsByKey.get(key);
    return sessionId === undefined ? undefined : this.#conversations.get(sessionId);
  }

  /** The conversation that was used last is the last. */
  conversations(): Iterable<Conversation> {
    return this.#conversations.values();
  }

  getAsked(approvalId: string): AskedQuestion | undefined {
    return this.#asked.get(approvalId);
  }

  /** Finds the person who was asked last in a session since it was idle. */
  findApprover(sessionId: string): string | undefined {
    return [...this.#asked.values()].findLast((question) => question.sessionId === sessionId)?.approver;
  }

  /** Counts how often people began a new session in the conversation with this key. */
  getGeneration(key: string): number {
    return this.#generations.get(key) ?? 0;
  }

  /** Undefined: that of the settings. */
  getQueueMode(key: string): QueueMode | undefined {
    return this.#queueModes.get(key);
  }

  getReply(id: string): OutboxReply | undefined {
    return this.#replies.get(id);
  }

  /** In the order in which they are sent. */
  replies(): Iterable<OutboxReply> {
    return this.#replies.values();
  }

  /** Whether messages of this source were taken. */
  hasSource(source: string): boolean {
    return this.#sources.has(source);
  }

  /** The people as they were written; undefined if they never were. */
  get peers(): unknown {
    return this.#peers;
  }

  /** Lists the parts of the answer that a session is writing, as far as people were sent any. */
  listOpen(sessionId: string): readonly OutboxReply[] {
    return [...this.#replies.values()].filter((reply) => reply.isOpen && reply.sessionId === sessionId);
  }

  /** Records that lead to the same state. */
  *snapshot(): Iterable<ChannelRecord> {
    for (const conversation of this.#conversations.values()) yield { type: "state", conversation };
    for (const reply of this.#replies.values()) yield { type: "kept", reply };
    for (const question of this.#asked.values()) yield { type: "asked", question };
    for (const [key, generation] of this.#generations) yield { type: "renewed", key, generation };
    for (const [key, mode] of this.#queueModes) yield { type: "queue", key, mode };
    for (const source of this.#sources) yield { type: "told", source, replies: [] };
    if (this.#peers !== undefined) yield { type: "peers", peers: this.#peers };
  }

  /** Forgets everything, before a snapshot is taken. */
  clear(): void {
    this.#conversations.clear();
    this.#sessionsByKey.clear();
    this.#replies.clear();
    this.#asked.clear();
    this.#generations.clear();
    this.#queueModes.clear();
    this.#sources.clear();
    this.#peers = undefined;
  }

  take(record: ChannelRecord): void {
    switch (record.type) {
      case "received":
        return this.#receive(record.conversation);
      case "answered": {
        const conversation = this.#conversations.get(record.sessionId);
        if (conversation)
          this.#conversations.set(record.sessionId, { ...conversation, answeredEntryId: record.entryId });
        return this.#add(record.replies);
      }
      case "replies":
        return this.#add(record.replies);
      case "told":
        if (this.#sources.has(record.source)) return;
        this.#sources.add(record.source);
        if (this.#sources.size > maxSources) this.#sources.delete([...this.#sources][0]!);
        return this.#add(record.replies);
      case "asked":
        return this.#ask(record.question);
      case "resolved": {
        const question = this.#asked.get(record.approvalId);
        if (question) this.#asked.set(record.approvalId, { ...question, isResolved: true });
        return;
      }
      case "renewed":
        this.#generations.set(record.key, record.generation);
        return;
      case "queue":
        this.#queueModes.set(record.key, record.mode);
        return;
      case "idle": {
        const conversation = this.#conversations.get(record.sessionId);
        const { sourceMessageId = conversation?.sourceMessageId } = record;
        if (sourceMessageId !== conversation?.sourceMessageId) return;
        if (conversation) this.#conversations.set(record.sessionId, { ...conversation, isExpecting: false });
        return this.#forgetAsked(record.sessionId);
      }
      case "attempt":
        return this.#change(record.id, (reply) => beginAttempt(reply, record.at));
      case "shown":
        return this.#change(record.id, (reply) => showDraft(reply, record.messageId));
      case "not_sent":
        return this.#change(record.id, (reply) => (record.isReplaced ? replaceDraft(reply) : waitAgain(reply)));
      case "over":
        this.#change(record.id, (reply) => ({ ...reply, state: record.state, reason: record.reason }));
        return this.#forgetOldest();
      case "sent":
      case "dropped":
        this.#replies.delete(record.id);
        return;
      case "state":
        return this.#setConversation(record.conversation);
      case "peers":
        this.#peers = record.peers;
        return;
      case "kept":
        this.#replies.set(record.reply.id, record.reply);
    }
  }

  #receive(received: Extract<ChannelRecord, { type: "received" }>["conversation"]): void {
    const { sessionId } = received;
    const known = this.#conversations.get(sessionId);
    this.#conversations.delete(sessionId);
    this.#setConversation({ ...known, ...received, isExpecting: true });
    if (this.#conversations.size <= maxConversations) return;
    for (const { sessionId: other, key, isExpecting } of this.#conversations.values()) {
      if (isExpecting) continue;
      this.#conversations.delete(other);
      this.#forgetAsked(other);
      if (this.#sessionsByKey.get(key) === other) this.#sessionsByKey.delete(key);
      return;
    }
  }

  #ask(question: AskedQuestion): void {
    // The last one is the one that was asked last.
    this.#asked.delete(question.approvalId);
    this.#asked.set(question.approvalId, question);
    if (this.#asked.size > maxAsked) this.#asked.delete([...this.#asked.keys()][0]!);
  }

  #forgetAsked(sessionId: string): void {
    for (const question of this.#asked.values())
      if (question.sessionId === sessionId) this.#asked.delete(question.approvalId);
  }

  #setConversation(conversation: Conversation): void {
    this.#conversations.set(conversation.sessionId, conversation);
    this.#sessionsByKey.set(conversation.key, conversation.sessionId);
  }

  #add(replies: readonly StoredReply[]): void {
    for (const reply of replies) {
      const known = this.#replies.get(reply.id);
      if (!known) {
        const isDraft = reply.isOpen && ({ isDraft: true } as const);
        this.#replies.set(reply.id, { ...reply, ...isDraft, state: "waiting", attempts: 0 });
      } else if (known.isOpen && !reply.isOpen) this.#replies.set(reply.id, completeDraft(known, reply));
    }
  }

  #change(id: string, change: (reply: OutboxReply) => OutboxReply): void {
    const reply = this.#replies.get(id);
    if (reply) this.#replies.set(id, change(reply));
  }

  #forgetOldest(): void {
    const over = [...this.#replies.values()].filter(({ state }) => state === "uncertain" || state === "refused");
    if (over.length > maxOver) this.#replies.delete(over[0]!.id);
  }
}

const beginAttempt = (reply: OutboxReply, atMs: number): OutboxReply => ({
  ...reply,
  state: "sending",
  attempts: reply.attempts + 1,
  // Records of earlier versions have no time: such an attempt is too old to be recognised.
  uncertainSince: (reply.state === "sending" ? reply.uncertainSince : atMs) ?? 0,
});

const waitAgain = (reply: OutboxReply): OutboxReply => ({ ...reply, state: "waiting" });

const showDraft = (reply: OutboxReply, messageId: string): OutboxReply => ({
  ...reply,
  messageId,
  state: reply.isOpen ? "shown" : "waiting",
});

function replaceDraft({ messageId: _gone, ...reply }: OutboxReply): OutboxReply {
  return { ...reply, isReplaced: true, attempts: 0, state: "waiting" };
}

/** Keeps the attempts of the draft: only they can say whether it was delivered. */
function completeDraft({ isOpen: _open, reason, ...draft }: OutboxReply, complete: StoredReply): OutboxReply {
  const { state } = draft;
  const isUncertain = state === "uncertain" && reason !== undefined;
  return {
    ...draft,
    ...complete,
    state: state === "shown" || state === "refused" ? "waiting" : state,
    ...(isUncertain && { reason }),
  };
}
