/**
 * Keys of requests that all nodes know. A node writes a key down before it does the work of its request, and the answer
 * afterwards; both are decided by the revision of the key. A request that comes again at another node waits for the answer
 * of the first, as long as the node that works on it is alive.
 */
import { createHash } from "node:crypto";
import type { Clock, Ids } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import {
  GatewayError,
  isAnswer,
  mustBeSame,
  replay,
  type RequestKeys,
  type RequestWork,
  type StoredAnswer,
  toAnswer,
  toFailure,
} from "@tau/gateway/port";
import type { Bus } from "./bus.ts";
import type { Membership } from "./membership.ts";
import { bucketStream, keyBucket, keySubject } from "./names.ts";

interface ClusterKeysOptions {
  bus: Bus;
  membership: Membership;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
}

/** `state` of a request that had no effect, and may be tried again, is `free`. */
type KeyRecord = { body: string; nodeId: string } & (
  | { state: "begun" | "free" }
  | { state: "done"; answer: StoredAnswer }
);

type Begun =
  | { kind: "begun"; seq: number; nodeId: string }
  | { kind: "known"; seq: number; answer: StoredAnswer | undefined };

const stream = bucketStream(keyBucket);
const writeMs = 10_000;
const minPauseMs = 50;
const maxPauseMs = 1_000;

export class ClusterKeys implements RequestKeys {
  readonly #options: ClusterKeysOptions;
  readonly #running = new Map<string, { body: string; answer: Promise<unknown> }>();
  #isClosed = false;

  constructor(options: ClusterKeysOptions) {
    this.#options = options;
  }

  async once(key: string, work: RequestWork): Promise<unknown> {
    const { body } = work;
    const running = this.#running.get(key);
    if (running) {
      mustBeSame(running.body, body);
      return await running.answer;
    }
    const answer = this.#run(toSubject(key), work);
    this.#running.set(key, { body, answer });
    try {
      return await answer;
    } finally {
      this.#running.delete(key);
    }
  }

  /** Waits for the work of this node, but not for that of others. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#running.values()].map(({ answer }) => answer));
  }

  async #run(subject: string, work: RequestWork, lostSeq?: number): Promise<unknown> {
    const { body, run, recover } = work;
    const begun = await this.#begin(subject, body, lostSeq);
    if (begun.kind === "known") {
      const recovered = isAnswer(begun.answer) ? undefined : await recover?.();
      if (recovered?.kind === "no_effect") return await this.#run(subject, work, begun.seq);
      return recovered?.kind === "payload" ? recovered.payload : replay(begun.answer);
    }
    const { seq, nodeId } = begun;
    try {
      const payload = await run();
      await this.#keep(subject, seq, { body, nodeId, state: "done", answer: toAnswer(payload) });
      return payload;
    } catch (error) {
      const answer = toFailure(error);
      await this.#keep(subject, seq, { body, nodeId, ...(answer ? { state: "done", answer } : { state: "free" }) });
      throw error;
    }
  }

  /**
   * Waits while another node works on the same request. `answer` undefined: that node was lost. What was begun with the record
   * `lostSeq` had no effect, and is begun again.
   */
  async #begin(subject: string, body: string, lostSeq: number | undefined): Promise<Begun> {
    const { bus, membership, clock, ids } = this.#options;
    for (let pauseMs = minPauseMs; !this.#isClosed; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const last = await bus.retry(() => bus.readLast(stream, subject));
      const known = last && (JSON.parse(new TextDecoder().decode(last.data)) as KeyRecord);
      if (known && known.state !== "free" && last.seq !== lostSeq) {
        mustBeSame(known.body, body);
        if (known.state === "done") return { kind: "known", seq: last.seq, answer: known.answer };
        // What this node works on is in `#running`.
        if (known.nodeId === membership.nodeId || (await membership.isDead(known.nodeId))) {
          return { kind: "known", seq: last.seq, answer: undefined };
        }
        await sleep(clock, pauseMs);
        continue;
      }
      const { nodeId } = membership;
      // The others could not know when what it has begun is lost.
      if (!membership.isSelf(nodeId)) throw notNow("this node has no part in the cluster");
      const message = { stream, subject, after: last?.seq ?? 0, id: ids(), giveUpAfterMs: writeMs };
      const outcome = await bus.publish({ ...message, data: encode({ body, nodeId, state: "begun" }) });
      if (outcome.kind === "stored") return { kind: "begun", seq: outcome.seq, nodeId };
      if (outcome.kind !== "overtaken") {
        throw notNow(`the cluster did not store its key: ${outcome.reason}`);
      }
    }
    throw notNow("this node stops");
  }

  /** The work is done: whether its answer can be kept does not change that. */
  async #keep(subject: string, after: number, record: KeyRecord): Promise<void> {
    const { bus, ids, log } = this.#options;
    const data = encode(record);
    const outcome = await bus.publish({ stream, subject, data, after, id: ids(), giveUpAfterMs: writeMs });
    if (outcome.kind !== "stored") log(`The answer to a request was not kept: ${JSON.stringify(outcome)}`);
  }
}

const notNow = (reason: string) =>
  new GatewayError("unavailable", `The request was not begun: ${reason}. Try again.`, { retryAfterMs: 1_000 });

const toSubject = (key: string) => keySubject(keyBucket, createHash("sha256").update(key).digest("base64url"));
const encode = (record: KeyRecord) => new TextEncoder().encode(JSON.stringify(record));
