/**
 * Messages that a person sent while the session was busy. Each is in the log before it is accepted, and has exactly
 * one outcome there: it is said, cancelled or refused.
 */
import type { QueueMode } from "@tau/agent";
import type { Ids, ImageContent, TextContent, UserMessage } from "@tau/ai";
import { getTypedContent, type QueuedMessage, type QueuedSummary, HarnessError } from "@tau/protocol";
import type { AcceptedEntry } from "../session/entry.ts";
import type { Session } from "../session/session.ts";

export type QueueKind = AcceptedEntry["kind"];

type Content = (TextContent | ImageContent)[];

interface Waiting extends QueuedMessage {
  readonly kind: QueueKind;
  readonly content: Content;
}

/** Answers with the ids of the messages that wait again; the others are refused. */
export type KeepQueued = (sessionId: string, queued: readonly AcceptedEntry[]) => Promise<ReadonlySet<string>>;

interface QueueSummary {
  steering: QueuedSummary[];
  followUps: QueuedSummary[];
}

interface InboxParts {
  session: Session;
  ids: Ids;
  now: () => number;
  mode: (kind: QueueKind) => QueueMode;
  /** Called with all that waits, without the data of images. */
  onChange: (queue: QueueSummary) => void;
}

export class Inbox {
  readonly #parts: InboxParts;
  #waiting: readonly Waiting[] = [];
  /** Handed over to the engine, and not yet in the log as said. */
  readonly #taken = new Map<object, Waiting>();
  #holdsFollowUps = false;
  /** The ids of messages that began a run without waiting. */
  readonly #named = new WeakMap<object, string>();

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** There is something that `take` hands over. */
  get hasNext(): boolean {
    return this.#waiting.some(({ kind }) => kind === "steer" || !this.#holdsFollowUps);
  }

  has(id: string): boolean {
    return this.#waiting.some((message) => message.id === id);
  }

  /** Lists the messages of this kind, oldest first. */
  list(kind: QueueKind): QueuedMessage[] {
    return this.#waiting.filter((queued) => queued.kind === kind).map(({ id, content }) => ({ id, content }));
  }

  /** All that waits, without the data of images. */
  summarise(): QueueSummary {
    return { steering: this.list("steer").map(toSummary), followUps: this.list("followUp").map(toSummary) };
  }

  /** Resolves with its id when it is in the log: from then on it is not lost. `id`: default a new one. */
  async accept(kind: QueueKind, content: Content, id: string = this.#parts.ids()): Promise<string> {
    const { session } = this.#parts;
    await session.append({ type: "queue", queueId: id, state: "accepted", kind, content });
    this.#change([...this.#waiting, { id, kind, content }]);
    return id;
  }

  /** Gives a message that begins a run an id, which its entry will have as its `queueId`. */
  nameMessage(message: object, id: string): void {
    this.#named.set(message, id);
  }

  /** Lets follow-ups wait, until the function that this returns is called: `take` does not hand them over meanwhile. */
  holdFollowUps(): () => void {
    this.#holdsFollowUps = true;
    return () => void (this.#holdsFollowUps = false);
  }

  /** Hands messages over to the engine: the oldest, or all of them. */
  take(kind: QueueKind): UserMessage[] {
    if (kind === "followUp" && this.#holdsFollowUps) return [];
    const all = this.#waiting.filter((queued) => queued.kind === kind);
    const taken = this.#parts.mode(kind) === "all" ? all : all.slice(0, 1);
    if (taken.length === 0) return [];
    this.#change(this.#waiting.filter((queued) => !taken.includes(queued)));
    return taken.map((queued) => {
      const message: UserMessage = { role: "user", content: queued.content, timestamp: this.#parts.now() };
      this.#taken.set(message, queued);
      return message;
    });
  }

  /** The id of a message that was waiting, or was given one. */
  getId(message: object): string | undefined {
    return this.#taken.get(message)?.id ?? this.#named.get(message);
  }

  /** The message is in the log: that is its outcome. */
  markSaid(message: object): void {
    this.#taken.delete(message);
  }

  /** Lets messages wait again that were handed over and never said, because the log refused them. */
  takeBack(): void {
    if (this.#taken.size === 0) return;
    const unsaid = [...this.#taken.values()];
    this.#taken.clear();
    this.#change([...unsaid, ...this.#waiting]);
  }

  /** Takes back one message. False when it is no longer queued. */
  async cancel(id: string): Promise<boolean> {
    return (await this.#drop("cancelled", cancelled, id)).length > 0;
  }

  /** Takes back all messages, and returns them. */
  async cancelAll(): Promise<QueuedMessage[]> {
    return await this.#drop("cancelled", cancelled);
  }

  /** Says of everything that waits that it will not be said. */
  async refuse(reason: string): Promise<QueuedMessage[]> {
    return await this.#drop("refused", reason);
  }

  /**
   * Deals with what a crash left without an outcome: what `keep` names waits again, the rest is refused. `onRefused` gets
   * the words of each.
   */
  async settleLeftovers(keep: KeepQueued | undefined, onRefused: (text: string) => void): Promise<void> {
    const { session } = this.#parts;
    const leftovers = await session.waitingMessages();
    const kept = leftovers.length > 0 ? await keep?.(session.id, leftovers) : undefined;
    for (const { queueId, content } of leftovers.filter((entry) => !kept?.has(entry.queueId))) {
      const reason = "the program ended before it was sent";
      await session.append({ type: "queue", queueId, state: "refused", reason });
      onRefused(typeof content === "string" ? content : content.map(getWords).join("\n"));
    }
    const again = leftovers.filter(({ queueId }) => kept?.has(queueId));
    if (again.length > 0) this.#change([...again.map(toWaiting), ...this.#waiting]);
  }

  /** Puts other words in the place of one that waits; it keeps its place. */
  async edit(id: string, content: Content): Promise<string> {
    const { session, ids } = this.#parts;
    const before = this.#waiting.find((queued) => queued.id === id);
    if (!before) throw new HarnessError("invalid_input", `No message ${JSON.stringify(id)} is waiting any more.`);
    // What was attached stays attached. What is mentioned comes with the words.
    const { images } = getTypedContent(before.content);
    const next = { id: ids(), kind: before.kind, content: [...content, ...images] };
    // The new one first: in between there are two, and never none.
    const { id: queueId, kind } = next;
    await session.append({ type: "queue", queueId, state: "accepted", kind, content: next.content });
    if (!this.#waiting.includes(before)) {
      // It was said while the new words were written.
      await session.append({ type: "queue", queueId: next.id, state: "cancelled", reason: "came too late" });
      throw new HarnessError(
        "invalid_input",
        `The message ${JSON.stringify(id)} was sent to the model before it could be changed.`,
      );
    }
    this.#change(this.#waiting.map((queued) => (queued === before ? next : queued)));
    try {
      await session.append({ type: "queue", queueId: id, state: "cancelled", reason: `replaced by ${next.id}` });
    } catch (error) {
      // The error says that nothing was changed.
      this.#change(this.#waiting.map((queued) => (queued === next ? before : queued)));
      throw error;
    }
    return next.id;
  }

  async #drop(state: "cancelled" | "refused", reason: string, id?: string): Promise<QueuedMessage[]> {
    const dropped = this.#waiting.filter((queued) => id === undefined || queued.id === id);
    if (dropped.length === 0) return [];
    // A message that is being dropped must not be taken.
    this.#change(this.#waiting.filter((message) => !dropped.includes(message)));
    for (const [index, { id: queueId }] of dropped.entries()) {
      try {
        await this.#parts.session.append({ type: "queue", queueId, state, reason });
      } catch (error) {
        // Messages without an outcome in the log wait again.
        this.#change([...dropped.slice(index), ...this.#waiting]);
        throw error;
      }
    }
    return dropped.map(({ id: queueId, content }) => ({ id: queueId, content }));
  }

  #change(waiting: readonly Waiting[]): void {
    this.#waiting = waiting;
    this.#parts.onChange(this.summarise());
  }
}

/** Why a message has no answer, for the log. */
const cancelled = "cancelled by the person";

const getWords = (block: TextContent | ImageContent): string => (block.type === "text" ? block.text : "[image]");

const toWaiting = ({ queueId: id, kind, content }: AcceptedEntry): Waiting => ({
  id,
  kind,
  content: typeof content === "string" ? [{ type: "text", text: content }] : content,
});

const toSummary = ({ id, content }: QueuedMessage): QueuedSummary => ({
  id,
  content:
    typeof content === "string"
      ? content
      : content.map((block) => (block.type === "image" ? { type: "image", mimeType: block.mimeType } : block)),
});
