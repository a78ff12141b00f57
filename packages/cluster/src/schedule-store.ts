/**
 * The schedules of a cluster: one subject that all nodes read. A record is stored only after the last one that its writer has read, so
 * that of all nodes that find something due, one begins it.
 */
import type { Ids } from "@tau/ai";
import { SerialQueue } from "@tau/ai/internal";
import {
  GatewayError,
  isGatewayError,
  type ScheduleRecord,
  type ScheduleStore,
  ScheduleTable,
} from "@tau/gateway/port";
import type { Bus } from "./bus.ts";
import type { Membership } from "./membership.ts";
import { scheduleStream, scheduleSubject } from "./names.ts";

/** A snapshot takes the place of all records before it. */
type StoredRecord = ScheduleRecord | { type: "snapshot"; records: ScheduleRecord[] };

interface ClusterSchedulesOptions {
  bus: Bus;
  membership: Membership;
  ids: Ids;
}

const place = { stream: scheduleStream, subject: scheduleSubject };
const appendMs = 10_000;
/** So many records more than schedules and runs are put together. */
const minSpareRecords = 256;

export class ClusterSchedules implements ScheduleStore {
  readonly #options: ClusterSchedulesOptions;
  readonly #table = new ScheduleTable();
  readonly #queue = new SerialQueue();
  #lastSeq = 0;
  #revision = 0;
  /** How many records the subject has. */
  #count = 0;
  #stopListening = () => {};

  constructor(options: ClusterSchedulesOptions) {
    this.#options = options;
  }

  readonly isShared = true;

  get table(): ScheduleStore["table"] {
    return this.#table;
  }

  get revision(): number {
    return this.#revision;
  }

  get owner(): string {
    return this.#options.membership.nodeId;
  }

  onChange(listener: () => void): void {
    const { nats } = this.#options.bus;
    const subscription = nats.subscribe(scheduleSubject, { callback: (error) => void (error ?? listener()) });
    this.#stopListening = () => subscription.unsubscribe();
  }

  refresh(): Promise<void> {
    return this.#queue.add(() => this.#read());
  }

  append(record: ScheduleRecord, after?: number): Promise<number | undefined> {
    return this.#queue.add(async () => {
      if (after !== undefined && after !== this.#revision) return undefined;
      if (!(await this.#publish(record))) return undefined;
      await this.#compact();
      return this.#revision;
    });
  }

  async isGone(owner: string): Promise<boolean> {
    const { membership } = this.#options;
    return !membership.isSelf(owner) && (await membership.isDead(owner));
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.#queue.whenIdle();
  }

  /** False if another node was faster: then its records are read. */
  async #publish(record: StoredRecord): Promise<boolean> {
    const { bus, membership, ids } = this.#options;
    const { nodeId } = membership;
    // Others would take what it begins for lost.
    if (!membership.isSelf(nodeId)) throw notNow("this node has no part in the cluster");
    const isSnapshot = record.type === "snapshot";
    const outcome = await bus.publish({
      ...place,
      data: encode(record),
      after: this.#lastSeq,
      id: ids(),
      giveUpAfterMs: appendMs,
      // The servers drop all before it in the same moment.
      ...(isSnapshot && { headers: { "Nats-Rollup": "sub" } }),
    });
    if (outcome.kind === "stored") {
      this.#take(outcome.seq, record);
      return true;
    }
    if (outcome.kind !== "overtaken") throw notNow(`the cluster did not store it: ${outcome.reason}`);
    await this.#read();
    return false;
  }

  async #compact(): Promise<void> {
    const records = [...this.#table.snapshot()];
    if (this.#count < records.length + minSpareRecords) return;
    const snapshot: StoredRecord = { type: "snapshot", records };
    // One that does not fit stays in pieces.
    if (encode(snapshot).length >= this.#options.bus.maxPayloadBytes / 2) return;
    await this.#publish(snapshot).catch((error: unknown) => {
      // The record itself is stored, and the next one tries it again.
      if (!isGatewayError(error)) throw error;
    });
  }

  async #read(): Promise<void> {
    const messages = this.#options.bus.readSince(place.stream, place.subject, this.#lastSeq + 1);
    for await (const { seq, data } of messages) this.#take(seq, decode(data));
  }

  #take(seq: number, record: StoredRecord): void {
    this.#lastSeq = seq;
    this.#revision++;
    this.#count = record.type === "snapshot" ? 1 : this.#count + 1;
    if (record.type !== "snapshot") return this.#table.take(record);
    // It stands for all before it, which a reader may have seen.
    this.#table.clear();
    for (const each of record.records) this.#table.take(each);
  }
}

const notNow = (reason: string): GatewayError =>
  new GatewayError("unavailable", `The schedules cannot be changed now: ${reason}. Try again.`, {
    retryAfterMs: 1_000,
  });

const encode = (record: StoredRecord) => new TextEncoder().encode(JSON.stringify(record));
const decode = (data: Uint8Array) => JSON.parse(new TextDecoder().decode(data)) as StoredRecord;
