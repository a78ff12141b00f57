/** The messages of one session, with outcomes that are known before they are on the disk. */
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { InboxStore } from "./inbox-store.ts";
import type { MessageOutcome, StoredMessage } from "./message.ts";

interface SessionMessagesParts {
  store: InboxStore;
  clock: Clock;
  log: (line: string) => void;
  /** Called with each message that was given up, when that is on the disk. */
  onGivenUp: (message: StoredMessage) => void;
  /** Called when outcomes are on the disk that could not be written before. */
  onWritten: () => void;
}

/** How long to wait before an outcome is written again that could not be written, such as on a full disk. */
const retryMs = 5_000;

export class SessionMessages {
  readonly #sessionId: string;
  readonly #parts: SessionMessagesParts;
  /** They have an outcome, which is not on the disk yet. */
  readonly #settled = new Set<string>();
  /** Outcomes that could not be written. */
  #unwritten: { ids: readonly string[]; outcome: MessageOutcome }[] = [];
  #cancelRetry: (() => void) | undefined;

  constructor(sessionId: string, parts: SessionMessagesParts) {
    this.#sessionId = sessionId;
    this.#parts = parts;
  }

  /** Nothing is without an outcome, and all outcomes are on the disk. */
  get isEmpty(): boolean {
    return this.#settled.size === 0 && this.listUnsettled().length === 0;
  }

  isSettled(id: string): boolean {
    return this.#settled.has(id);
  }

  /** Lists messages without an outcome, oldest first. */
  listUnsettled(): StoredMessage[] {
    return this.#list(({ id, state }) => state === "waiting" && !this.#settled.has(id));
  }

  /** Lists messages that were given up, and that the session has not heard of yet. */
  listUntold(): StoredMessage[] {
    return this.#list(({ isUntold }) => isUntold === true);
  }

  /** They count as settled at once. An outcome that cannot be written is written later. */
  async settle(messages: readonly StoredMessage[], outcome: MessageOutcome): Promise<void> {
    const ids = messages.map(({ id }) => id);
    try {
      await this.#write(ids, outcome);
    } catch (error) {
      // The session's log says it too, and is asked after a restart.
      this.#parts.log(`What became of ${ids.join(", ")} could not be written: ${getErrorMessage(error)}`);
      this.#unwritten.push({ ids, outcome });
      this.#retryLater();
    }
  }

  /** Settles a message for somebody who waits for it. Throws if it is not on the disk: then the message has no outcome. */
  async mustSettle(message: StoredMessage, outcome: MessageOutcome): Promise<void> {
    try {
      await this.#write([message.id], outcome);
    } catch (error) {
      this.#settled.delete(message.id);
      throw error;
    }
  }

  /** Leaves what could not be written to the next start. */
  stop(): void {
    this.#cancelRetry?.();
  }

  async #write(ids: readonly string[], outcome: MessageOutcome): Promise<void> {
    for (const id of ids) this.#settled.add(id);
    await this.#parts.store.settle(ids, outcome);
    for (const id of ids) this.#settled.delete(id);
    if (outcome.kind !== "dead") return;
    // In a cluster it may belong to another node by now, and then it is not given up.
    const dead = ids.flatMap((id) => this.#parts.store.messages.get(id) ?? []).filter(({ state }) => state === "dead");
    for (const message of dead) this.#parts.onGivenUp(message);
  }

  #retryLater(): void {
    this.#cancelRetry ??= this.#parts.clock.setTimer(retryMs, () => void this.#retry());
  }

  async #retry(): Promise<void> {
    const unwritten = this.#unwritten;
    this.#unwritten = [];
    for (const each of unwritten) {
      await this.#write(each.ids, each.outcome).catch(() => this.#unwritten.push(each));
    }
    this.#cancelRetry = undefined;
    if (this.#unwritten.length > 0) this.#retryLater();
    else this.#parts.onWritten();
  }

  /** Settles a message if `work` says so. Meanwhile it counts as settled. */
  async settleIf(message: StoredMessage, outcome: MessageOutcome, work: () => Promise<boolean>): Promise<boolean> {
    this.#settled.add(message.id);
    let isDone = false;
    try {
      isDone = await work();
    } finally {
      if (!isDone) this.#settled.delete(message.id);
    }
    if (isDone) await this.settle([message], outcome);
    return isDone;
  }

  #list(isWanted: (message: StoredMessage) => boolean): StoredMessage[] {
    return [...this.#parts.store.messages.ofSession(this.#sessionId)].filter(isWanted);
  }
}
