/**
 * The conversations and replies of channels, as one log that all nodes read. The node that wrote the last `owner` record connects the
 * accounts. Each write names the last message that its writer knows, so that a node that was replaced and does not know it can
 * neither record an attempt to send a reply nor, therefore, send one.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import type { Clock, Ids } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import {
  type ChannelLeader,
  type ChannelRecord,
  ChannelTable,
  type ClusterChannels,
  GatewayError,
  isGatewayError,
} from "@tau/gateway/port";
import type { Bus } from "./bus.ts";
import { listen } from "./listen.ts";
import type { Membership } from "./membership.ts";
import { channelStream, channelSubject } from "./names.ts";

type LogMessage =
  | { readonly kind: "records"; readonly records: readonly ChannelRecord[]; readonly writer: string }
  /** The accounts belong to this node now. */
  | { readonly kind: "owner"; readonly nodeId: string }
  /** Takes the place of everything before it. */
  | { readonly kind: "snapshot"; readonly records: readonly ChannelRecord[]; readonly nodeId: string };

interface ChannelLogOptions {
  bus: Bus;
  membership: Membership;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
}

interface Pending {
  readonly record: ChannelRecord;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const appendMs = 10_000;
const maxTries = 20;
/** How often a node looks whether the owner is dead. */
const lookMs = 2_000;
const maxRecords = 5_000;

export class ChannelLog implements ClusterChannels {
  table = new ChannelTable();
  readonly #options: ChannelLogOptions;
  readonly #queue = new SerialQueue();
  /** Begins and ends, in their order. */
  readonly #changes = new SerialQueue();
  readonly #hints: { unsubscribe(): void };
  #pending: Pending[] = [];
  /** How far the log is read, and how many records it has. */
  #read = { seq: 0, count: 0, owner: "" };
  #leader: { readonly events: ChannelLeader; isLeading: boolean } | undefined;
  #cancelLook: () => void = () => {};
  #isClosed = false;

  constructor(options: ChannelLogOptions) {
    this.#options = options;
    const { bus, log } = options;
    this.#hints = listen(bus.nats, channelSubject, { log, take: () => this.#readSoon() });
  }

  append(record: ChannelRecord): Promise<void> {
    if (this.#isClosed) return Promise.reject(new GatewayError("unavailable", "The gateway is stopping."));
    return new Promise((resolve, reject) => {
      this.#pending.push({ record, resolve, reject });
      if (this.#pending.length === 1) void this.#queue.add(() => this.#write());
    });
  }

  async refresh(): Promise<void> {
    await this.#queue.add(() => this.#catchUp());
  }

  lead(events: ChannelLeader): void {
    this.#leader = { events, isLeading: false };
    this.#look();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook();
    this.#hints.unsubscribe();
    await this.#queue.whenIdle();
  }

  /** Looks again and again whether the accounts have an owner that is alive. */
  #look(): void {
    const { clock, log } = this.#options;
    const again = () => {
      if (!this.#isClosed) this.#cancelLook = clock.setTimer(lookMs, () => this.#look());
    };
    this.#queue
      .add(() => this.#takeOver())
      .catch((error: unknown) => log(`Which node has the channels could not be read: ${getErrorMessage(error)}`))
      .finally(again);
  }

  async #takeOver(): Promise<void> {
    const { membership } = this.#options;
    await this.#catchUp();
    const { nodeId } = membership;
    const { owner, seq } = this.#read;
    if (this.#isClosed || !this.#leader) return;
    if (owner !== nodeId) this.#setLeading(false);
    if (!membership.isSelf(nodeId)) return;
    if (owner !== nodeId) {
      if (owner !== "" && !(await membership.isDead(owner))) return;
      const outcome = await this.#publish({ kind: "owner", nodeId }, seq);
      if (outcome.kind !== "stored") return;
      this.#read = { ...this.#read, seq: outcome.seq, owner: nodeId };
    }
    this.#setLeading(true);
  }

  #setLeading(isLeading: boolean): void {
    const { log } = this.#options;
    const leader = this.#leader;
    if (!leader || leader.isLeading === isLeading) return;
    leader.isLeading = isLeading;
    const change = () => (isLeading ? leader.events.onBegin() : leader.events.onEnd());
    this.#changes
      .add(change)
      .catch((error: unknown) => log(`The channels could not be moved: ${getErrorMessage(error)}`));
  }

  /** Writes everything that waits, as one message. */
  async #write(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    const records = pending.map(({ record }) => record);
    const writer = this.#options.membership.nodeId;
    try {
      await this.#writeAll({ kind: "records", records, writer });
      for (const { resolve } of pending) resolve();
    } catch (error) {
      for (const { reject } of pending) reject(error);
      return;
    }
    await this.#compact();
  }

  async #writeAll(message: Extract<LogMessage, { kind: "records" }>): Promise<void> {
    for (let tries = 0; tries < maxTries; tries++) {
      // Only the owner makes attempts, and only as long as it is the owner.
      const isAttempt = message.records.some(({ type }) => type === "attempt");
      if (isAttempt && (this.#read.owner !== message.writer || !this.#options.membership.isSelf(message.writer))) {
        this.#setLeading(false);
        throw new GatewayError("unavailable", "Another node has the channels now.");
      }
      const outcome = await this.#publish(message, this.#read.seq);
      if (outcome.kind === "stored") {
        this.#read = { ...this.#read, seq: outcome.seq, count: this.#read.count + message.records.length };
        for (const record of message.records) this.table.take(record);
        return;
      }
      if (outcome.kind !== "overtaken") {
        const kind = outcome.kind === "unknown" ? "unknown_outcome" : "unavailable";
        throw new GatewayError(kind, `The cluster did not store what happened in a channel: ${outcome.reason}.`);
      }
      await this.#catchUp();
    }
    throw new GatewayError("unavailable", "Other nodes write too much about channels. Try again.");
  }

  async #compact(): Promise<void> {
    const records = [...this.table.snapshot()];
    if (this.#read.count < records.length + maxRecords) return;
    const { owner: nodeId, seq } = this.#read;
    const outcome = await this.#publish({ kind: "snapshot", records, nodeId }, seq);
    if (outcome.kind === "stored") this.#read = { ...this.#read, seq: outcome.seq, count: records.length };
  }

  async #publish(message: LogMessage, after: number) {
    const { bus, ids } = this.#options;
    return await bus.publish({
      stream: channelStream,
      subject: channelSubject,
      data: gzipSync(JSON.stringify(message)),
      after,
      id: ids(),
      giveUpAfterMs: appendMs,
      // The servers drop all before it in the same moment.
      ...(message.kind === "snapshot" && { headers: { "Nats-Rollup": "sub" } }),
    });
  }

  #readSoon(): void {
    if (this.#isClosed) return;
    this.#queue
      .add(() => this.#catchUp())
      .catch((error: unknown) => {
        if (!isGatewayError(error)) throw error;
        this.#options.log(`What happens in channels could not be read: ${error.message}`);
      });
  }

  /** Reads what others have written. */
  async #catchUp(): Promise<void> {
    const { bus, membership } = this.#options;
    for await (const { seq, data } of bus.readSince(channelStream, channelSubject, this.#read.seq + 1)) {
      const message = JSON.parse(gunzipSync(data).toString("utf8")) as LogMessage;
      this.#read = { ...this.#read, seq };
      this.#take(message);
    }
    if (this.#read.owner !== membership.nodeId) this.#setLeading(false);
  }

  #take(message: LogMessage): void {
    if (message.kind === "owner") {
      this.#read = { ...this.#read, owner: message.nodeId };
      return;
    }
    const { records } = message;
    if (message.kind === "snapshot") {
      this.table.clear();
      this.#read = { ...this.#read, count: 0, owner: message.nodeId };
    }
    this.#read = { ...this.#read, count: this.#read.count + records.length };
    for (const record of records) {
      this.table.take(record);
      if (message.kind === "records") this.#leader?.events.onRecord(record);
    }
  }
}
