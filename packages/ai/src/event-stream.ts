import { AiError, getErrorMessage } from "./errors.ts";
import type { AssistantMessageEvent } from "./event.ts";
import { classifyThrown } from "./failure.ts";
import type { AssistantMessage } from "./message.ts";
import { createAssistantMessage } from "./assistant-message.ts";

/**
 * A queue between one producer and one consumer, with a final result.
 *
 * `result()` always settles. It resolves with the terminal event's result or the value passed to `end`; if the producer
 * stopped early or failed, it rejects. Events pushed after the end are dropped.
 */
export class EventStream<T, R = T> implements AsyncIterable<T> {
  readonly #isComplete: (event: T) => boolean;
  readonly #extractResult: (event: T) => R;
  #ending: Ending<R> | undefined;
  /** Created by the first `result()` call: most streams are read to their end and never need it. */
  #result: Promise<R> | undefined;
  #onEnding: ((ending: Ending<R>) => void) | undefined;
  #queue: T[] = [];
  #head = 0;
  /** Iterators that wait for the next event. */
  readonly #pendingReads: ((item: IteratorResult<T>) => void)[] = [];
  /** `ready` calls that wait for the next event or the end. */
  readonly #pendingReady: ((hasMore: boolean) => void)[] = [];

  constructor(isComplete: (event: T) => boolean, extractResult: (event: T) => R) {
    this.#isComplete = isComplete;
    this.#extractResult = extractResult;
  }

  push(event: T): void {
    if (this.#ending) return;
    if (this.#isComplete(event)) this.#conclude(this.#getEnding(event));
    const resolveRead = this.#pendingReads.shift();
    if (resolveRead) resolveRead({ value: event, done: false });
    else this.#queue.push(event);
    this.#wake();
  }

  /** Ends the stream. Without `result` and without a terminal event before it, `result()` rejects. */
  end(result?: R): void {
    if (this.#ending) return;
    if (result !== undefined) this.#conclude({ kind: "done", result });
    else {
      const error = new AiError("stream_incomplete", "The stream ended without a terminal event.");
      this.#conclude({ kind: "failed", error });
    }
    this.#wake();
  }

  /** Ends the stream because its producer failed. */
  fail(error: unknown): void {
    if (this.#ending) return;
    this.#conclude({ kind: "failed", error });
    this.#wake();
  }

  /** Whether the stream has ended. Queued events may still be unread. */
  get ended(): boolean {
    return this.#ending !== undefined;
  }

  result(): Promise<R> {
    if (this.#result) return this.#result;
    this.#result = new Promise<R>((resolve, reject) => {
      this.#onEnding = (ending) => (ending.kind === "done" ? resolve(ending.result) : reject(ending.error));
    });
    // A caller may ignore the promise; an unhandled rejection would end the process.
    this.#result.catch(() => undefined);
    if (this.#ending) this.#onEnding?.(this.#ending);
    return this.#result;
  }

  /**
   * The next queued event, or undefined if the queue is empty. Together with `ready`, a faster way to read than
   * `for await`, which costs several turns of the microtask queue per event.
   */
  read(): T | undefined {
    if (!this.#hasMore) return undefined;
    const event = this.#queue[this.#head++];
    if (!this.#hasMore) {
      this.#queue = [];
      this.#head = 0;
    }
    return event;
  }

  /** Resolves with true once `read` has an event, or with false if the stream ended and the queue is empty. */
  ready(): Promise<boolean> {
    if (this.#hasMore || this.#ending) return Promise.resolve(this.#hasMore);
    return new Promise((resolve) => this.#pendingReady.push(resolve));
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return { next: () => this.#next() };
  }

  #next(): Promise<IteratorResult<T>> {
    if (this.#hasMore) return Promise.resolve({ value: this.read() as T, done: false });
    if (this.#ending) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#pendingReads.push(resolve));
  }

  #getEnding(event: T): Ending<R> {
    try {
      return { kind: "done", result: this.#extractResult(event) };
    } catch (error) {
      return { kind: "failed", error };
    }
  }

  #conclude(ending: Ending<R>): void {
    this.#ending = ending;
    this.#onEnding?.(ending);
  }

  /** Wakes the readers that wait. Called for each event, so it creates nothing if nobody waits. */
  #wake(): void {
    if (this.#ending) for (const resolve of this.#pendingReads.splice(0)) resolve({ value: undefined, done: true });
    if (this.#pendingReady.length > 0) for (const resolve of this.#pendingReady.splice(0)) resolve(this.#hasMore);
  }

  get #hasMore(): boolean {
    return this.#head < this.#queue.length;
  }
}

type Ending<R> = { kind: "done"; result: R } | { kind: "failed"; error: unknown };

/** The stream of one response. It always ends in exactly one `done` or `error` event, and `result()` never rejects. */
export class AssistantMessageEventStream extends EventStream<AssistantMessageEvent, AssistantMessage> {
  #partial: AssistantMessage | undefined;

  constructor() {
    super(isTerminal, getResult);
  }

  override push(event: AssistantMessageEvent): void {
    if (event.type !== "done" && event.type !== "error") this.#partial = event.partial;
    super.push(event);
  }

  /** Ends with the event that fits the stop reason of `result`. Without `result`, ends with an `error` event. */
  override end(result?: AssistantMessage): void {
    if (this.ended) return;
    if (!result)
      this.fail(new AiError("stream_incomplete", "The model's stream ended before its answer was complete."));
    else if (result.stopReason === "error" || result.stopReason === "aborted") {
      this.push({ type: "error", reason: result.stopReason, error: result });
    } else this.push({ type: "done", reason: result.stopReason, message: result });
  }

  /** Ends with an `error` event that carries the content received so far. */
  override fail(error: unknown): void {
    if (this.ended) return;
    const message = this.#partial ?? createAssistantMessage({ api: "unknown", provider: "unknown", id: "unknown" }, 0);
    const failure = classifyThrown(error);
    const failed = { ...message, stopReason: "error", errorMessage: getErrorMessage(error), failure } as const;
    this.push({ type: "error", reason: "error", error: failed });
  }
}

const isTerminal = ({ type }: AssistantMessageEvent) => type === "done" || type === "error";

function getResult(event: AssistantMessageEvent): AssistantMessage {
  if (event.type === "done") return event.message;
  if (event.type === "error") return event.error;
  throw new AiError("stream_incomplete", `A ${event.type} event has no result.`);
}

/** Creates a stream, for extensions that do not import the class. */
export const createAssistantMessageEventStream = (): AssistantMessageEventStream => new AssistantMessageEventStream();
