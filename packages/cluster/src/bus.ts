/** JetStream for a cluster: stores messages only after the one that they were written for, and reads them. */
import {
  DeliverPolicy,
  type JetStreamClient,
  type JetStreamManager,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstream,
} from "@nats-io/jetstream";
import { headers as createHeaders, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "@tau/ai";
import { getErrorMessage, sleep } from "@tau/ai/internal";
import { GatewayError } from "@tau/gateway/port";
import { headerNames } from "./names.ts";

export interface FencedMessage {
  stream: string;
  subject: string;
  data?: Uint8Array;
  /** The last message of the subject that the writer knows; 0: there is none. */
  after: number;
  /** Differs for each message, so that it is recognised when the answer to it was lost. */
  id: string;
  headers?: Readonly<Record<string, string>> | undefined;
  /** After this long without an answer its fate stays unknown. */
  giveUpAfterMs: number;
}

export type FencedOutcome =
  | { kind: "stored"; seq: number }
  /** Another message came first. */
  | { kind: "overtaken"; lastSeq: number }
  /** It was not stored, and will not be. */
  | { kind: "refused"; reason: string }
  /** It may have been stored, or may still be. */
  | { kind: "unknown"; reason: string };

export interface StoredMessage {
  seq: number;
  subject: string;
  data: Uint8Array;
  headers: MsgHdrs | undefined;
  time: string;
}

/** How long one attempt waits for its answer. Electing another leader takes the servers up to nine seconds. */
const attemptMs = 2_000;
const pauseMs = 100;
/** How long reading is tried while nothing arrives. */
const outageMs = 20_000;
/** After this long without a message another consumer is asked. */
const silenceMs = 3_000;

/** How many messages are asked for at once. */
const readWindow = 64;

/** How often a stream is read further that others write all the time. Only a key that is replaced in each round is missed. */
const maxBucketRounds = 5;

const wrongLast: readonly number[] = [
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
];

/** The servers, or the account, may not store more. This is found out before a message is stored anywhere. */
const noSpace: readonly number[] = [10_023, 10_028, 10_047];
const storeFailed = 10_077;

/** Whether a message was not stored, and will not be. Pure. */
function isRefusal({ code, status, message }: JetStreamApiError): boolean {
  if (wrongLast.includes(code)) return false;
  return status < 500 || noSpace.includes(code) || (code === storeFailed && /^maximum (bytes|messages)/.test(message));
}

export class Bus {
  readonly nats: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #jetstream: JetStreamClient;
  readonly #clock: Clock;

  constructor(nats: NatsConnection, manager: JetStreamManager, clock: Clock) {
    this.nats = nats;
    this.#manager = manager;
    this.#jetstream = jetstream(nats);
    this.#clock = clock;
  }

  get maxPayloadBytes(): number {
    return this.nats.info?.max_payload ?? 1024 * 1024;
  }

  /** Stores a message if `after` is still the last one of its subject. Tries again until it knows what became of it. */
  async publish(message: FencedMessage): Promise<FencedOutcome> {
    const { stream, subject, data, after, id, giveUpAfterMs } = message;
    const headers = createHeaders();
    headers.set(headerNames.id, id);
    for (const [name, value] of Object.entries(message.headers ?? {})) headers.set(name, value);
    const deadline = this.#clock.monotonic() + giveUpAfterMs;
    let reason: string;
    do {
      try {
        const timeout = Math.max(100, Math.min(attemptMs, deadline - this.#clock.monotonic()));
        const expect = { lastSubjectSequence: after };
        const { seq } = await this.#jetstream.publish(subject, data, { headers, expect, timeout });
        return { kind: "stored", seq };
      } catch (error) {
        reason = getErrorMessage(error);
        if (error instanceof JetStreamApiError && isRefusal(error)) return { kind: "refused", reason };
        if (!(error instanceof JetStreamApiError) && !isOutage(error)) return { kind: "refused", reason };
        if (this.nats.isClosed()) return { kind: "unknown", reason };
        const known = error instanceof JetStreamApiError && (await this.#decide(stream, subject, { after, id }));
        if (known) return known;
      }
      await sleep(this.#clock, pauseMs);
    } while (this.#clock.monotonic() < deadline);
    return { kind: "unknown", reason };
  }

  /** Finds out what became of a message that was not the expected one; undefined if that is not decided yet. */
  async #decide(
    stream: string,
    subject: string,
    { after, id }: Pick<FencedMessage, "after" | "id">,
  ): Promise<FencedOutcome | undefined> {
    try {
      const last = await this.readLast(stream, subject);
      if (last?.headers?.get(headerNames.id) === id) return { kind: "stored", seq: last.seq };
      const lastSeq = last?.seq ?? 0;
      return lastSeq > after ? { kind: "overtaken", lastSeq } : undefined;
    } catch (error) {
      // The leader is gone; the next one knows.
      if (!isOutage(error)) throw error;
      return undefined;
    }
  }

  /** The last message of a subject, as the leader of the stream has it. */
  async readLast(stream: string, subject: string): Promise<StoredMessage | undefined> {
    return toStored(await this.#manager.streams.getMessage(stream, { last_by_subj: subject }));
  }

  /** A message that is known to be stored: any replica may answer, and the leader where that one does not have it yet. */
  async readSeq(stream: string, seq: number): Promise<StoredMessage | undefined> {
    const near = await this.#manager.direct.getMessage(stream, { seq }).catch((error: unknown) => {
      if (!isOutage(error)) throw error;
      return null;
    });
    if (near) {
      return { seq: near.seq, subject: near.subject, data: near.data, headers: near.header, time: near.timestamp };
    }
    return toStored(await this.#manager.streams.getMessage(stream, { seq }));
  }

  /** Messages that are known to be stored, in the same order. */
  async readAll(stream: string, seqs: readonly number[]): Promise<StoredMessage[]> {
    const messages: StoredMessage[] = [];
    for (let start = 0; start < seqs.length; start += readWindow) {
      const window = seqs.slice(start, start + readWindow);
      for (const [index, message] of (
        await Promise.all(window.map((seq) => this.retry(() => this.readSeq(stream, seq))))
      ).entries()) {
        if (!message) throw new Error(`The message ${window[index]} of the stream ${stream} was removed.`);
        messages.push(message);
      }
    }
    return messages;
  }

  /**
   * All messages of a subject (or of all that match it) from one number to another, without their content unless
   * `withData`. The last one has to be stored already; it may have been removed since.
   */
  async *readRange(
    stream: string,
    subject: string,
    { from, to, withData = false }: { from: number; to: number; withData?: boolean },
  ): AsyncGenerator<StoredMessage & { length: number }> {
    let next = from;
    let deadline = this.#clock.monotonic() + outageMs;
    let reason = "stored messages do not arrive";
    while (next <= to) {
      try {
        for await (const message of this.#readUntilSilent(stream, subject, { from: next, withData })) {
          if (message.seq <= to) yield message;
          next = message.seq + 1;
          if (next > to) return;
          deadline = this.#clock.monotonic() + outageMs;
        }
      } catch (error) {
        if (!isOutage(error)) throw error;
        reason = getErrorMessage(error);
      }
      if (this.nats.isClosed() || this.#clock.monotonic() > deadline) throw createSilent(reason);
      if (!(await this.#hasNext(stream, subject, { from: next, to }))) return;
    }
  }

  /** All messages of a subject from a number on. A snapshot that replaces them before they were read is read instead. */
  async *readSince(stream: string, subject: string, from: number): AsyncGenerator<StoredMessage> {
    let next = from;
    for (;;) {
      const last = await this.retry(() => this.readLast(stream, subject));
      if (!last || last.seq < next) return;
      for await (const message of this.readRange(stream, subject, { from: next, to: last.seq, withData: true })) {
        yield message;
        next = message.seq + 1;
      }
      if (next > last.seq) return;
    }
  }

  /** Whether the leader of the stream has such a message. What a consumer says may come from a replica that is behind. */
  async #hasNext(stream: string, subject: string, { from, to }: { from: number; to: number }): Promise<boolean> {
    const query = { seq: from, next_by_subj: subject };
    const message = await this.retry(() => this.#manager.streams.getMessage(stream, query));
    return message !== null && message.seq <= to;
  }

  /**
   * Reads what servers deliver from a number on, until nothing comes any more. Messages that are lost with a connection are
   * delivered for them, so a consumer may be silent although not all of its messages have arrived.
   */
  async *#readUntilSilent(
    stream: string,
    subject: string,
    { from, withData }: { from: number; withData: boolean },
  ): AsyncGenerator<StoredMessage & { length: number }> {
    const consumer = await this.retry(() =>
      this.#jetstream.consumers.get(stream, {
        filter_subjects: subject,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from,
        headers_only: !withData,
        inactive_threshold: 10_000,
      }),
    );
    const messages = await consumer.consume({ max_messages: 1_000, expires: 2_000 });
    const waitForMore = () => this.#clock.setTimer(silenceMs, () => messages.stop());
    let cancelWait = waitForMore();
    try {
      for await (const message of messages) {
        cancelWait();
        const length = withData ? message.data.length : Number(message.headers?.get("Nats-Msg-Size") ?? 0);
        const { seq, data, headers, timestamp: time } = message;
        yield { seq, subject: message.subject, data, headers, length, time };
        cancelWait = waitForMore();
      }
    } finally {
      cancelWait();
      messages.stop();
      // It would go by itself after a while.
      await consumer.delete().catch((error: unknown) => {
        if (!isOutage(error) && !(error instanceof JetStreamApiError)) throw error;
      });
    }
  }

  /**
   * The messages of a stream, which in a bucket are the last of each key. The servers remove a message when it is replaced, so
   * one that is replaced before it was read is found only behind the end that was known: reading continues until the end
   * stays where it is. A key that is written meanwhile may come twice, the newer value later.
   */
  async readBucket(stream: string, from = 0): Promise<StoredMessage[]> {
    const messages: StoredMessage[] = [];
    let next = from;
    for (let rounds = 0; rounds < maxBucketRounds; rounds++) {
      const { state } = await this.retry(() => this.#manager.streams.info(stream));
      if (state.messages === 0 || state.last_seq < next) break;
      const options = { from: Math.max(next, state.first_seq), to: state.last_seq, withData: true };
      for await (const message of this.readRange(stream, ">", options)) messages.push(message);
      next = state.last_seq + 1;
    }
    return messages;
  }

  /** Lists the subjects of a stream that have messages. */
  async listSubjects(stream: string, filter: string): Promise<string[]> {
    const { state } = await this.retry(() => this.#manager.streams.info(stream, { subjects_filter: filter }));
    return Object.keys(state.subjects ?? {});
  }

  /** Removes all messages of a subject. */
  async purge(stream: string, subject: string): Promise<void> {
    await this.retry(() => this.#manager.streams.purge(stream, { filter: subject }));
  }

  /** Tries reading again while the servers elect a leader. Throws `unavailable` if they do not answer for long. */
  async retry<T>(work: () => Promise<T>): Promise<T> {
    const deadline = this.#clock.monotonic() + outageMs;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) throw createGone();
        if (!isOutage(error)) throw error;
        if (this.nats.isClosed() || this.#clock.monotonic() > deadline) throw createSilent(getErrorMessage(error));
        await sleep(this.#clock, pauseMs);
      }
    }
  }
}

const createGone = () =>
  new GatewayError(
    "unavailable",
    "A stream of the cluster is gone. When the gateways are started again they create it, without what was in it.",
  );

const createSilent = (reason: string) =>
  new GatewayError("unavailable", `The servers of the cluster do not answer (${reason}). Try again in a moment.`, {
    retryAfterMs: 2_000,
  });

const outages: readonly unknown[] = [
  "ClosedConnectionError",
  "ConnectionError",
  "DrainingConnectionError",
  "JetStreamNotEnabled",
  "JetStreamStatusError",
  "NoResponders",
  "RequestError",
  "TimeoutError",
];

/** Too few servers have found each other yet. */
const noPeers = 10_005;

/** Whether the same request may succeed when the servers have found a leader or the connection is back. */
export function isOutage(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return error.status >= 500 || error.code === noPeers;
  return error instanceof Error && outages.includes(error.name);
}

function toStored(
  message: { seq: number; subject: string; data: Uint8Array; header: MsgHdrs; timestamp: string } | null,
): StoredMessage | undefined {
  if (!message) return undefined;
  const { seq, subject, data, header, timestamp } = message;
  return { seq, subject, data, headers: header, time: timestamp };
}
