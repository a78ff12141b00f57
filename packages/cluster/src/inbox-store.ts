/**
 * The inbox of a cluster: a subject for each session, which the node that runs the session writes. Only the messages of its
 * own sessions are known to a node; when a session moves, the next node reads them.
 */
import type { Clock, Ids } from "@tau/ai";
import { SerialQueue } from "@tau/ai/internal";
import type { InboxRequestData } from "@tau/protocol/gateway";
import {
  GatewayError,
  type InboxRecord,
  type InboxStore,
  type ClusterInboxStore,
  isGatewayError,
  type MessageFilter,
  MessageTable,
  type StoredMessage,
  toRequestData,
} from "@tau/gateway/port";
import type { Bus } from "./bus.ts";
import { fromToken, inboxStream, toToken } from "./names.ts";

/** A snapshot takes the place of all records before it. */
type StoredRecord = InboxRecord | { type: "snapshot"; records: InboxRecord[] };

/** The messages of one session, as far as they are read. */
interface SessionRecords {
  readonly table: MessageTable;
  readonly queue: SerialQueue;
  lastSeq: number;
  /** How many records the subject has. */
  count: number;
}

const appendMs = 10_000;
/** How often another writer may be faster. */
const maxTries = 5;
/** The key of a request may be used again after a day. */
const maxRequestAgeMs = 24 * 60 * 60_000;
/** So many records more than messages are put together. */
const minSpareRecords = 16;

export class ClusterInbox implements ClusterInboxStore {
  readonly #bus: Bus;
  readonly #ids: Ids;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Promise<SessionRecords>>();
  /** Sessions that are read. */
  readonly #known = new Map<string, SessionRecords>();

  constructor({ bus, ids, clock }: { bus: Bus; ids: Ids; clock: Clock }) {
    this.#bus = bus;
    this.#ids = ids;
    this.#clock = clock;
  }

  readonly messages: InboxStore["messages"] = createView(this.#known);

  /** Reads what waits for a session, before it is opened here. Another node may have written since it was read last. */
  async load(sessionId: string): Promise<void> {
    const isKnown = this.#known.has(sessionId);
    const records = await this.#get(sessionId);
    if (isKnown) await records.queue.add(() => this.#read(sessionId, records));
  }

  /** A session was closed: it is read again when it is used next, unless something waits for it or is listed as given up. */
  async unload(sessionId: string): Promise<void> {
    const records = this.#known.get(sessionId);
    await records?.queue.whenIdle();
    if (!records || this.#known.get(sessionId) !== records) return;
    if ([...records.table.all()].length > 0) return;
    this.#sessions.delete(sessionId);
    this.#known.delete(sessionId);
  }

  /** Another node runs the session: what waits for it is no longer known here. */
  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
    this.#known.delete(sessionId);
  }

  /** All sessions run elsewhere now, or no longer: what waits for them is no longer known here. */
  unloadAll(): void {
    this.#sessions.clear();
    this.#known.clear();
  }

  /** The messages of all sessions, whichever node runs them. */
  async listAll({ sessionId: wantedId, state }: MessageFilter = {}): Promise<StoredMessage[]> {
    const tables = await this.#readAll();
    const isWanted = (message: StoredMessage) =>
      (wantedId === undefined || message.sessionId === wantedId) && (state === undefined || message.state === state);
    return [...tables.values()].flatMap((table) => [...table.all()]).filter(isWanted);
  }

  /** Finds the message that a request with this key brought, whichever node runs its session. */
  async findRequest(key: string): Promise<InboxRequestData | undefined> {
    for (const table of (await this.#readAll()).values()) {
      const request = table.findRequest(key);
      if (request) return toRequestData(request, table.get(request.messageId));
    }
    return undefined;
  }

  async accept(message: StoredMessage, replaces?: string): Promise<void> {
    const record: InboxRecord = { type: "message", message, ...(replaces !== undefined && { replaces }) };
    await this.#append(message.sessionId, record);
  }

  async handOver(ids: readonly string[], handover: Parameters<InboxStore["handOver"]>[1]): Promise<void> {
    await this.#appendFor(ids, (own) => ({ type: "handover", ids: own, handover }));
  }

  async settle(ids: readonly string[], outcome: Parameters<InboxStore["settle"]>[1]): Promise<void> {
    await this.#appendFor(ids, (own) => ({ type: "settled", ids: own, outcome }));
  }

  async close(): Promise<void> {
    const known = [...this.#known.values()];
    await Promise.all(known.map(({ queue }) => queue.whenIdle()));
  }

  /** Messages that are not known here any more belong to another node now: what becomes of them is not ours to say. */
  async #appendFor(ids: readonly string[], create: (ids: string[]) => InboxRecord): Promise<void> {
    const bySession = new Map<string, string[]>();
    for (const id of ids) {
      const sessionId = this.messages.get(id)?.sessionId;
      if (sessionId !== undefined) bySession.set(sessionId, [...(bySession.get(sessionId) ?? []), id]);
    }
    for (const [sessionId, own] of bySession) await this.#append(sessionId, create(own));
  }

  async #append(sessionId: string, record: InboxRecord): Promise<void> {
    let records = this.#known.get(sessionId);
    // It may be unloaded in the moment that it is read.
    for (; !records; records = this.#known.get(sessionId)) await this.#get(sessionId);
    const own = records;
    await own.queue.add(async () => {
      await this.#publish(sessionId, own, record);
      const live = [...own.table.all()].length;
      if (own.count < live + minSpareRecords) return;
      const snapshot: StoredRecord = { type: "snapshot", records: [...own.table.snapshot(this.#clock.now())] };
      // One that does not fit stays in pieces.
      if (encode(snapshot).length >= this.#bus.maxPayloadBytes / 2) return;
      await this.#publish(sessionId, own, snapshot).catch((error: unknown) => {
        // The record itself is stored, and the next one tries it again.
        if (!isGatewayError(error)) throw error;
      });
    });
  }

  async #publish(sessionId: string, records: SessionRecords, record: StoredRecord): Promise<void> {
    const isSnapshot = record.type === "snapshot";
    for (let tries = 0; tries < maxTries; tries++) {
      // Another node has accepted the same request here, because the one that worked on it seemed to be lost.
      if (record.type === "message" && isAccepted(records.table, record)) return;
      const outcome = await this.#bus.publish({
        ...place(sessionId),
        data: encode(record),
        after: records.lastSeq,
        id: this.#ids(),
        giveUpAfterMs: appendMs,
        // The servers drop all before it in the same moment.
        ...(isSnapshot && { headers: { "Nats-Rollup": "sub" } }),
      });
      if (outcome.kind === "stored") {
        records.lastSeq = outcome.seq;
        records.count = isSnapshot ? 1 : records.count + 1;
        if (!isSnapshot) records.table.take(record);
        return;
      }
      if (outcome.kind === "unknown") {
        // If it is there, the next record is overtaken by it, and both are read.
        const text = `It is not known whether the cluster stored the message: ${outcome.reason}. Look before you try again.`;
        throw new GatewayError("unknown_outcome", text);
      }
      if (outcome.kind === "refused") {
        throw new GatewayError("unavailable", `The cluster did not store the message: ${outcome.reason}. Try again.`);
      }
      await this.#read(sessionId, records);
    }
    throw new GatewayError("unavailable", `The session ${sessionId} is being taken over by another node. Try again.`);
  }

  /** The messages of all sessions, by session. */
  async #readAll(): Promise<Map<string, MessageTable>> {
    const tables = new Map<string, MessageTable>();
    for (const { subject, data } of await this.#bus.readBucket(inboxStream)) {
      const sessionId = fromToken(subject.slice(subjectStart.length));
      const table = tables.get(sessionId) ?? createTable();
      tables.set(sessionId, table);
      take(table, decode(data));
    }
    return tables;
  }

  #get(sessionId: string): Promise<SessionRecords> {
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const records: SessionRecords = { table: createTable(), queue: new SerialQueue(), lastSeq: 0, count: 0 };
    const reading = this.#read(sessionId, records).then(() => {
      if (this.#sessions.get(sessionId) === reading) this.#known.set(sessionId, records);
      return records;
    });
    this.#sessions.set(sessionId, reading);
    reading.catch(() => this.#sessions.delete(sessionId));
    return reading;
  }

  async #read(sessionId: string, records: SessionRecords): Promise<void> {
    const { stream, subject } = place(sessionId);
    for await (const { seq, data } of this.#bus.readSince(stream, subject, records.lastSeq + 1)) {
      const record = decode(data);
      take(records.table, record);
      records.lastSeq = seq;
      records.count = record.type === "snapshot" ? 1 : records.count + 1;
    }
  }
}

/** Several tables as one. */
const createView = (known: ReadonlyMap<string, SessionRecords>): InboxStore["messages"] => ({
  get(id) {
    for (const { table } of known.values()) {
      const message = table.get(id);
      if (message) return message;
    }
    return undefined;
  },
  *all() {
    for (const { table } of known.values()) yield* table.all();
  },
  findRequest(key) {
    for (const { table } of known.values()) {
      const request = table.findRequest(key);
      if (request) return request;
    }
    return undefined;
  },
  ofSession: (sessionId) => known.get(sessionId)?.table.ofSession(sessionId) ?? [],
  getWaitingBytes(sender) {
    let bytes = 0;
    for (const { table } of known.values()) bytes += table.getWaitingBytes(sender);
    return bytes;
  },
  get counts() {
    const sum = { waiting: 0, dead: 0 };
    for (const { table } of known.values()) {
      sum.waiting += table.counts.waiting;
      sum.dead += table.counts.dead;
    }
    return sum;
  },
});

/** Fewer than in a file, because they travel in every snapshot of a session's messages. */
const createTable = () => new MessageTable({ maxRequests: 256 });

function take(table: MessageTable, record: StoredRecord): void {
  if (record.type !== "snapshot") return table.take(record);
  // It stands for all before it, which a reader may have seen.
  table.clear();
  for (const each of record.records) table.take(each);
}

/** Whether the request of a message has brought another one, which it does not replace. */
function isAccepted(table: MessageTable, { message, replaces }: Extract<InboxRecord, { type: "message" }>): boolean {
  const request = message.requestKey === undefined ? undefined : table.findRequest(message.requestKey);
  if (!request || request.messageId === message.id || request.messageId === replaces) return false;
  return message.acceptedAt - request.acceptedAt < maxRequestAgeMs;
}

const subjectStart = "tau.inbox.";
const place = (sessionId: string) => ({ stream: inboxStream, subject: `${subjectStart}${toToken(sessionId)}` });
const encode = (record: StoredRecord) => new TextEncoder().encode(JSON.stringify(record));
const decode = (data: Uint8Array) => JSON.parse(new TextDecoder().decode(data)) as StoredRecord;
