import { AiError, getErrorMessage } from "./errors.ts";
import type { AssistantMessageEvent } from "./event.ts";
import type { AssistantMessage } from "./message.ts";
import { emptyUsage } from "./usage.ts";

/**
 * A queue between one producer and one consumer, with a final result.
 *
 * `result()` always settles: with the terminal event's result, with what `end` was given, or, when the producer stopped
 * early or failed, by rejecting with an `AiError`. Nothing pushed after the end is delivered.
 */
export class EventStream<T, R = T> implements AsyncIterable<T> {
  readonly #isComplete: (event: T) => boolean;
  readonly #extractResult: (event: T) => R;
  /** How the stream ended. */
  #ending: Ending<R> | undefined;
  /** Made when somebody asks: most streams are read to their end, and a promise for each would be for nothing. */
  #result: Promise<R> | undefined;
  #onEnding: ((ending: Ending<R>) => void) | undefined;
  #queue: T[] = [];
  #head = 0;
  #waiting: ((item: IteratorResult<T>) => void)[] = [];
  #watching: ((hasMore: boolean) => void)[] = [];

  constructor(isComplete: (event: T) => boolean, extractResult: (event: T) => R) {
    this.#isComplete = isComplete;
    this.#extractResult = extractResult;
  }

  push(event: T): void {
    if (this.#ending) return;
    if (this.#isComplete(event)) this.#conclude(this.#getEnding(event));
    const waiter = this.#waiting.length > 0 ? this.#waiting.shift() : undefined;
    if (waiter) waiter({ value: event, done: false });
    else this.#queue.push(event);
    if (this.#ending) this.#release();
    else if (this.#watching.length > 0) this.#wake();
  }

  /** Ends the stream. Without `result` and without a terminal event before it, `result()` rejects. */
  end(result?: R): void {
    if (this.#ending) return;
    if (result !== undefined) this.#conclude({ kind: "done", result });
    else this.#conclude({ kind: "failed", error: endedEarly() });
    this.#release();
  }

  /** Ends the stream because its producer failed. */
  fail(error: unknown): void {
    if (this.#ending) return;
    this.#conclude({ kind: "failed", error });
    this.#release();
  }

  /** Whether the stream has ended; queued events may still be waiting for their reader. */
  get ended(): boolean {
    return this.#ending !== undefined;
  }

  result(): Promise<R> {
    if (this.#result) return this.#result;
    this.#result = new Promise<R>((resolve, reject) => {
      this.#onEnding = (ending) => (ending.kind === "done" ? resolve(ending.result) : reject(ending.error));
    });
    // Who asks need not wait for the answer: a rejection that is never looked at is not a crash.
    this.#result.catch(() => undefined);
    if (this.#ending) this.#onEnding?.(this.#ending);
    return this.#result;
  }

  /**
   * The next event if one is here, else undefined. With `ready`, a faster way to read than `for await`, which costs
   * several turns of the microtask queue for each event.
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

  /** Resolves when `read` has something to give, or never will: then with false. */
  ready(): Promise<boolean> {
    if (this.#hasMore || this.#ending) return Promise.resolve(this.#hasMore);
    return new Promise((resolve) => this.#watching.push(resolve));
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return { next: () => this.#next() };
  }

  #next(): Promise<IteratorResult<T>> {
    if (this.#hasMore) return Promise.resolve({ value: this.read() as T, done: false });
    if (this.#ending) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#waiting.push(resolve));
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

  #release(): void {
    if (this.#waiting.length > 0) {
      for (const waiter of this.#waiting.splice(0)) waiter({ value: undefined, done: true });
    }
    if (this.#watching.length > 0) this.#wake();
  }

  #wake(): void {
    const watching = this.#watching;
    this.#watching = [];
    for (const watcher of watching) watcher(this.#hasMore);
  }

  get #hasMore(): boolean {
    return this.#head < this.#queue.length;
  }
}

type Ending<R> = { kind: "done"; result: R } | { kind: "failed"; error: unknown };

const endedEarly = () => new AiError("stream_incomplete", "The stream ended without a terminal event.");

/** The stream of one response. It always ends in exactly one `done` or `error` event, and `result()` never rejects. */
export class AssistantMessageEventStream extends EventStream<AssistantMessageEvent, AssistantMessage> {
  #partial: AssistantMessage | undefined;

  constructor() {
    super(isLast, getAnswer);
  }

  override push(event: AssistantMessageEvent): void {
    if (event.type !== "done" && event.type !== "error") this.#partial = event.partial;
    super.push(event);
  }

  /** With `result`, ends in the event that fits its stop reason; without, in an `error` event. */
  override end(result?: AssistantMessage): void {
    if (this.ended) return;
    if (!result)
      this.fail(new AiError("stream_incomplete", "The model's stream ended before its answer was complete."));
    else if (result.stopReason === "error" || result.stopReason === "aborted") {
      this.push({ type: "error", reason: result.stopReason, error: result });
    } else this.push({ type: "done", reason: result.stopReason, message: result });
  }

  /** Ends in an `error` event that carries what had arrived. */
  override fail(error: unknown): void {
    if (this.ended) return;
    const message = getErrorMessage(error);
    this.push({
      type: "error",
      reason: "error",
      error: {
        ...(this.#partial ?? unknownAnswer()),
        stopReason: "error",
        errorMessage: message,
        failure: { kind: "unknown", message },
      },
    });
  }
}

const isLast = ({ type }: AssistantMessageEvent) => type === "done" || type === "error";

function getAnswer(event: AssistantMessageEvent): AssistantMessage {
  if (event.type === "done") return event.message;
  if (event.type === "error") return event.error;
  throw new AiError("stream_incomplete", `A ${event.type} event has no result.`);
}

/** For extensions, which need not know the class. */
export const createAssistantMessageEventStream = (): AssistantMessageEventStream => new AssistantMessageEventStream();

const unknownAnswer = (): AssistantMessage => ({
  role: "assistant",
  content: [],
  api: "unknown",
  provider: "unknown",
  model: "unknown",
  usage: emptyUsage(),
  stopReason: "error",
  timestamp: 0,
});
