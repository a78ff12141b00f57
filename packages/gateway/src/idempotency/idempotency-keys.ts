/**
 * Requests that have an effect once, however often they are sent. What was answered is on the disk for a day, so that this
 * also holds over a restart.
 */
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { Storage } from "@tau/harness/session";
import type { GatewayFault } from "@tau/protocol/gateway";
import { GatewayError, toFault } from "../errors.ts";
import { Journal, type JournalOptions } from "../journal/journal.ts";

/** `large`: it was done, and its answer was too large to be kept. */
export type StoredAnswer =
  | { kind: "payload"; payload: unknown }
  | { kind: "fault"; fault: GatewayFault }
  | { kind: "large" };

type KeyRecord =
  | { type: "begun"; key: string; body: string; atMs: number }
  | { type: "done"; key: string; answer: StoredAnswer }
  /** It had no effect, and may be tried again. */
  | { type: "freed"; key: string };

interface KeyState {
  /** A digest of the request. */
  readonly body: string;
  readonly atMs: number;
  readonly answer?: StoredAnswer;
}

export const maxAgeMs = 24 * 60 * 60_000;
const maxKeys = 10_000;
const maxAnswerLength = 64 * 1024;

interface IdempotencyOptions extends Pick<JournalOptions<KeyRecord>, "maxBytes"> {
  clock: Clock;
  log: (line: string) => void;
}

/**
 * The outcome of a request whose answer was not kept, as far as it was found out. `no_effect`: nothing was done when the
 * gateway was stopped, so that it may be done now.
 */
export type Recovered = { kind: "payload"; payload: unknown } | { kind: "no_effect" } | { kind: "unknown" };

export interface RequestWork {
  /** A digest of the request. */
  body: string;
  run: () => Promise<unknown>;
  /** Looks for what the request did before a crash. Default: it is not known. */
  recover?: () => Promise<Recovered>;
}

/** Where keys of requests are kept. */
export interface RequestKeys {
  /**
   * Does the work, unless a request with this key did it before: then its answer is given again. Throws `conflict` if
   * that request was another one, and `unknown_outcome` if it is not known what became of it.
   */
  once(key: string, work: RequestWork): Promise<unknown>;
  close(): Promise<void>;
}

export class IdempotencyKeys implements RequestKeys {
  readonly #options: IdempotencyOptions;
  readonly #states: ReadonlyMap<string, KeyState>;
  readonly #journal: Journal<KeyRecord>;
  readonly #running = new Map<string, { body: string; answer: Promise<unknown> }>();

  private constructor(options: IdempotencyOptions, states: ReadonlyMap<string, KeyState>, journal: Journal<KeyRecord>) {
    this.#options = options;
    this.#states = states;
    this.#journal = journal;
  }

  static async open(storage: Storage, options: IdempotencyOptions): Promise<IdempotencyKeys> {
    const states = new Map<string, KeyState>();
    const journal = await Journal.open<KeyRecord>({
      ...options,
      storage,
      key: "gateway/idempotency",
      take: (record) => take(states, record),
      snapshot: () => listRecords(states, options.clock.now()),
    });
    return new IdempotencyKeys(options, states, journal);
  }

  async once(key: string, work: RequestWork): Promise<unknown> {
    const { body } = work;
    const running = this.#running.get(key);
    const state = this.#find(key);
    const known = running ?? state;
    if (known) mustBeSame(known.body, body);
    if (running) return await running.answer;
    const answer = state ? this.#repeat(key, state, work) : this.#run(key, work);
    this.#running.set(key, { body, answer });
    try {
      return await answer;
    } finally {
      this.#running.delete(key);
    }
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  #find(key: string): KeyState | undefined {
    const state = this.#states.get(key);
    return state && isCurrent(state, this.#options.clock.now()) ? state : undefined;
  }

  async #repeat(key: string, { answer }: KeyState, work: RequestWork): Promise<unknown> {
    if (isAnswer(answer)) return replay(answer);
    const recovered = (await work.recover?.()) ?? { kind: "unknown" };
    if (recovered.kind === "no_effect") return await this.#run(key, work);
    if (recovered.kind === "unknown") return replay(answer);
    await this.#keep({ type: "done", key, answer: toAnswer(recovered.payload) });
    return recovered.payload;
  }

  async #run(key: string, { body, run }: RequestWork): Promise<unknown> {
    await this.#journal.append({ type: "begun", key, body, atMs: this.#options.clock.now() });
    try {
      const payload = await run();
      await this.#keep({ type: "done", key, answer: toAnswer(payload) });
      return payload;
    } catch (error) {
      const answer = toFailure(error);
      await this.#keep(answer ? { type: "done", key, answer } : { type: "freed", key });
      throw error;
    }
  }

  /** The work is done: whether its answer can be kept does not change that. */
  async #keep(record: KeyRecord): Promise<void> {
    await this.#journal.append(record).catch((error: unknown) => this.#options.log(getErrorMessage(error)));
  }
}

const isCurrent = ({ atMs }: KeyState, nowMs: number) => nowMs - atMs < maxAgeMs;

/** Throws `conflict` for another request. Both are digests. */
export function mustBeSame(known: string, body: string): void {
  if (known === body) return;
  throw new GatewayError("conflict", "This idempotency key was used for another request. Choose a new one.");
}

/** Returns what is kept of a failure. Undefined: it had no effect, and may be tried again. */
export function toFailure(error: unknown): StoredAnswer | undefined {
  const fault = toFault(error);
  return fault.retryable ? undefined : { kind: "fault", fault };
}

export function toAnswer(payload: unknown): StoredAnswer {
  const length = (JSON.stringify(payload) ?? "").length;
  return length > maxAnswerLength ? { kind: "large" } : { kind: "payload", payload };
}

/** Whether the answer that was kept says what the request has done. */
export const isAnswer = (answer: StoredAnswer | undefined): boolean =>
  answer !== undefined && !(answer.kind === "fault" && answer.fault.code === "unknown_outcome");

/** Answers as the first request was answered. */
export function replay(answer: StoredAnswer | undefined): unknown {
  if (answer?.kind === "payload") return answer.payload;
  if (answer?.kind === "fault") {
    const { code, message, retryAfterMs } = answer.fault;
    throw new GatewayError(code, message, retryAfterMs === undefined ? {} : { retryAfterMs });
  }
  const text = answer
    ? "This request was done before. Its answer was too large to be kept."
    : "The gateway was stopped while it worked on this request, so it is not known whether it had its effect. Look before you repeat it with another key.";
  throw new GatewayError("unknown_outcome", text);
}

function take(states: Map<string, KeyState>, record: KeyRecord): void {
  const { key } = record;
  const state = states.get(key);
  if (record.type === "begun") {
    states.delete(key);
    states.set(key, { body: record.body, atMs: record.atMs });
    const [oldest] = states.keys();
    if (states.size > maxKeys && oldest !== undefined) states.delete(oldest);
  } else if (record.type === "freed") states.delete(key);
  else if (state) states.set(key, { ...state, answer: record.answer });
}

function* listRecords(states: ReadonlyMap<string, KeyState>, nowMs: number): Iterable<KeyRecord> {
  for (const [key, state] of states) {
    if (!isCurrent(state, nowMs)) continue;
    const { body, atMs, answer } = state;
    yield { type: "begun", key, body, atMs };
    if (answer) yield { type: "done", key, answer };
  }
}
