/**
 * The log of a session as the messages of a subject. Every message names the last one before it that its writer knows, and
 * the stream refuses it where another came first: that is the fence. A writer that takes over begins with an empty message,
 * after which nothing of the writer before it can be stored.
 */
import type { Ids } from "@tau/ai";
import { PendingWork } from "@tau/ai/internal";
import type { AcquireOutcome, AppendOutcome, LogStore } from "@tau/harness/session";
import { mustBeBlobName } from "@tau/tools/storage";
import { GatewayError } from "@tau/gateway/port";
import type { Bus, FencedOutcome, StoredMessage } from "./bus.ts";
import { type IndexCache, noCache } from "./index-cache.ts";
import type { HeldLease, SessionLeases } from "./leases.ts";
import { formatLogId, headerNames, type LogPlace, parseLogId, placeLog, toBlobName } from "./names.ts";
import { type LogMessage, Segments } from "./segments.ts";

export interface LogStoreOptions {
  /** The id of a session, or another name of a log; see `toLogName`. */
  sessionId: string;
  /** A session in the trash: nothing of it is found. Default false. */
  isHidden?: boolean;
  bus: Bus;
  leases: SessionLeases;
  cache: IndexCache;
  ids: Ids;
}

/** How much of a message headers and the server's own limits may take. */
const headerBytes = 4096;
const maxPartBytes = 512 * 1024;

/** How long an append waits for the servers to find a leader. */
const appendMs = 20_000;

/** How often a writer that takes over looks again when another was faster. */
const maxTakeovers = 20;

export class NatsLogStore implements LogStore {
  readonly name: string;
  readonly #options: LogStoreOptions;
  readonly #place: LogPlace;
  #segments: Segments | undefined;
  /** The epoch of the last message that was read; 0 if there was none. */
  #lastEpoch = 0;
  #lastTime = "";
  #identity = "";
  /** Differs for each store. */
  readonly #writerId: string;
  /** How many messages it has written, or tried to. */
  #written = 0;
  /** Whether one of them is stored, with the name of this node. */
  #isSigned = false;
  #lease: HeldLease | undefined;
  /** Why nothing can be written any more. */
  #failure: AppendOutcome | undefined;
  readonly #pending = new PendingWork();
  #closing: Promise<void> | undefined;

  constructor(options: LogStoreOptions) {
    this.#options = options;
    this.#place = placeLog(options.sessionId);
    this.#writerId = options.ids().slice(0, 18);
    this.name = `${this.#place.stream}/${options.sessionId}`;
  }

  /** When the last message was stored that was read; empty if there was none. */
  get lastTime(): string {
    return this.#lastTime;
  }

  async stat() {
    if (this.#options.isHidden) return undefined;
    // Only the holder of the lease writes.
    const segments = (this.#lease && this.#segments) ?? (await this.#load());
    return segments.end === 0 ? undefined : { size: segments.end, identity: await this.#getIdentity() };
  }

  async read(position: number, length: number): Promise<Buffer> {
    if (this.#closing)
      throw new GatewayError("conflict", `The session ${this.name} is closed. Open it again to continue.`);
    if (length === 0) return Buffer.alloc(0);
    return await this.#pending.add(this.#read(position, length));
  }

  async #read(position: number, length: number): Promise<Buffer> {
    const segments = this.#segments ?? (await this.#load());
    const end = Math.min(position + length, segments.end);
    if (end <= position) return Buffer.alloc(0);
    const parts = segments.between(position, end);
    const messages = await this.#options.bus.readAll(
      this.#place.stream,
      parts.map(({ seq }) => seq),
    );
    const bytes = Buffer.alloc(end - position);
    for (const [index, part] of parts.entries()) {
      const data = Buffer.from(messages[index]!.data.buffer, messages[index]!.data.byteOffset, part.length);
      data.copy(bytes, Math.max(0, part.position - position), Math.max(0, position - part.position));
    }
    return bytes;
  }

  /** Whatever `sync` says: the servers sync what they acknowledge. */
  async append(bytes: Uint8Array, { position }: { position: number; sync: boolean }): Promise<AppendOutcome> {
    if (this.#closing) return closed;
    return this.#failure ?? (await this.#pending.add(this.#append(Buffer.from(bytes), position)));
  }

  async #append(bytes: Buffer, position: number): Promise<AppendOutcome> {
    const segments = this.#segments ?? (await this.#load());
    if (position !== segments.end) {
      const reason = `it has ${segments.end} bytes instead of ${position}: another node wrote to it`;
      return this.#fail({ kind: "overtaken", reason });
    }
    return await this.#publishAll(bytes, position);
  }

  async replace(bytes: Uint8Array): Promise<AppendOutcome> {
    if (this.#closing) return closed;
    return this.#failure ?? (await this.#pending.add(this.#replace(Buffer.from(bytes))));
  }

  async #replace(bytes: Buffer): Promise<AppendOutcome> {
    this.#segments ??= await this.#load();
    return await this.#publishAll(bytes, 0);
  }

  /** Stores bytes whose first takes this position, and after which there are no others. */
  async #publishAll(bytes: Buffer, position: number): Promise<AppendOutcome> {
    const segments = this.#segments!;
    const partBytes = Math.min(maxPartBytes, this.#options.bus.maxPayloadBytes - headerBytes);
    for (let start = 0; start < Math.max(1, bytes.length); start += partBytes) {
      const part = bytes.subarray(start, start + partBytes);
      const hasMore = start + partBytes < bytes.length;
      const outcome = await this.#publish(part, { position: position + start, hasMore });
      // A part that is stored without the last one is never valid, so the log ends where it did.
      if (outcome.kind !== "stored") return this.#toOutcome(outcome);
    }
    return { kind: "appended", position: segments.end };
  }

  async #publish(
    data: Uint8Array,
    { position, hasMore }: Pick<LogMessage, "position" | "hasMore">,
  ): Promise<FencedOutcome> {
    const { bus, leases } = this.#options;
    const segments = this.#segments!;
    const unique = `${this.#writerId}.${++this.#written}`;
    if (this.#lease?.isLost()) return { kind: "overtaken", lastSeq: segments.lastSeq };
    const { stream, subject } = this.#place;
    // Without spreads, which take a tenth of an append.
    const outcome = await bus.publish({
      stream,
      subject,
      data,
      after: segments.lastSeq,
      id: formatLogId({ unique, position, epoch: this.#lease?.epoch ?? 0, hasMore }),
      headers: this.#isSigned ? undefined : { [headerNames.node]: leases.nodeId },
      giveUpAfterMs: appendMs,
    });
    if (outcome.kind === "stored") {
      this.#isSigned = true;
      segments.add({ seq: outcome.seq, position, length: data.length, hasMore });
    }
    return outcome;
  }

  #toOutcome(outcome: Exclude<FencedOutcome, { kind: "stored" }>): AppendOutcome {
    switch (outcome.kind) {
      case "overtaken":
        return this.#fail({ kind: "overtaken", reason: "another node has taken it over" });
      case "refused":
        return { kind: "failed", reason: `the cluster refused it (${outcome.reason})`, canRetry: true };
      case "unknown": {
        const reason = `the cluster did not answer for ${appendMs / 1000} seconds (${outcome.reason})`;
        return this.#fail({ kind: "failed", reason, canRetry: false });
      }
    }
  }

  async sync(): Promise<boolean> {
    return this.#failure?.kind !== "failed";
  }

  /** The messages stay in the stream: what is cut off can still be read there. */
  async cut(position: number): Promise<string> {
    const segments = this.#segments ?? (await this.#load());
    const { lastSeq } = segments;
    const outcome = await this.#publish(new Uint8Array(), { position, hasMore: false });
    if (outcome.kind === "stored") return `the stream ${this.#place.stream} up to message ${lastSeq}`;
    const text = `The session ${this.name} was changed by another node while it was opened. Open it again.`;
    throw new GatewayError(outcome.kind === "overtaken" ? "conflict" : "unavailable", text);
  }

  async acquire(): Promise<AcquireOutcome> {
    if (this.#lease) return { kind: "held", generation: this.#lease.epoch };
    const { leases, sessionId } = this.#options;
    const outcome = await leases.acquire(sessionId);
    if (outcome.kind === "busy") return outcome;
    this.#lease = outcome.lease;
    try {
      await this.#takeOver();
    } catch (error) {
      await this.#release();
      throw error;
    }
    return { kind: "held", generation: this.#lease.epoch };
  }

  /** After this, no message of an earlier writer is stored any more, and all that were are known. */
  async #takeOver(): Promise<void> {
    let segments = await this.#load();
    for (let tries = 0; tries < maxTakeovers; tries++) {
      // The first message of a log is fenced by being the first.
      if (segments.lastSeq === 0) return;
      this.#lease?.moveAfter(this.#lastEpoch);
      const outcome = await this.#publish(new Uint8Array(), { position: segments.end, hasMore: false });
      if (outcome.kind === "stored") return;
      if (outcome.kind !== "overtaken") break;
      segments = await this.#load();
    }
    throw new GatewayError(
      "unavailable",
      `The session ${this.name} could not be taken over from another node. Try again.`,
    );
  }

  /** Reads which messages there are, as far as that is not known yet. */
  async #load(): Promise<Segments> {
    const { bus, sessionId, cache } = this.#options;
    const { stream, subject } = this.#place;
    const last = await bus.retry(() => bus.readLast(stream, subject));
    if (!last) return (this.#segments ??= new Segments());
    this.#lastEpoch = getLogId(last).epoch;
    this.#lastTime = last.time;
    const segments = this.#segments ?? (await this.#loadCached(await cache.read(sessionId), last)) ?? new Segments();
    for await (const message of bus.readRange(stream, subject, { from: segments.lastSeq + 1, to: last.seq })) {
      segments.add(toLogMessage(message));
    }
    return (this.#segments = segments);
  }

  /** A cache is used if it is of this log: its first and last message are still there. */
  async #loadCached(
    cached: Awaited<ReturnType<IndexCache["read"]>>,
    last: StoredMessage,
  ): Promise<Segments | undefined> {
    const segments = cached && Segments.decode(cached.segments);
    if (!segments || segments.lastSeq > last.seq || segments.firstSeq === 0) return undefined;
    return (await this.#formatIdentity(segments.firstSeq)) === cached.identity ? segments : undefined;
  }

  /** That of its first message. Empty while there is none, or none is known. */
  async #getIdentity(): Promise<string> {
    const firstSeq = this.#segments?.firstSeq ?? 0;
    return firstSeq === 0 ? "" : (this.#identity ||= await this.#formatIdentity(firstSeq));
  }

  async #formatIdentity(seq: number): Promise<string> {
    const { bus } = this.#options;
    const { stream, subject } = this.#place;
    const first = await bus.retry(() => bus.readSeq(stream, seq));
    return first?.subject === subject ? `${stream}:${seq}:${first.time}` : "gone";
  }

  async readIndex(): Promise<Buffer | undefined> {
    const cached = await this.#options.cache.read(this.#options.sessionId);
    return cached && cached.identity === (await this.#getIdentity()) ? cached.index : undefined;
  }

  async writeIndex(bytes: Uint8Array): Promise<void> {
    const segments = this.#segments;
    if (!segments?.isWhole) return;
    const cached = { identity: await this.#getIdentity(), segments: segments.encode(), index: Buffer.from(bytes) };
    await this.#options.cache.write(this.#options.sessionId, cached);
  }

  async writeBlob(name: string, bytes: Uint8Array): Promise<void> {
    const blob = this.#openBlob(name);
    const outcome = await blob.replace(bytes);
    await blob.close();
    if (outcome.kind === "appended") return;
    throw new GatewayError("unavailable", `${blob.name} could not be stored: ${outcome.reason}. Try again.`);
  }

  async readBlob(name: string): Promise<Buffer | undefined> {
    const blob = this.#openBlob(name);
    const stats = await blob.stat();
    const bytes = stats && (await blob.read(0, stats.size));
    await blob.close();
    return bytes;
  }

  /** A blob is a log of its own, which is written once. */
  #openBlob(name: string): NatsLogStore {
    mustBeBlobName(name);
    return new NatsLogStore({ ...this.#options, sessionId: toBlobName(this.#options.sessionId, name), cache: noCache });
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#pending.whenSettled();
    this.#failure ??= closed;
    await this.#release();
  }

  async #release(): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    await lease?.release();
  }

  /** Refuses all further appends with the first failure. */
  #fail(outcome: AppendOutcome): AppendOutcome {
    return (this.#failure ??= outcome);
  }
}

const closed: AppendOutcome = { kind: "failed", reason: "the session is closed", canRetry: false };

const getLogId = ({ headers }: StoredMessage) => parseLogId(headers?.get(headerNames.id) ?? "");

function toLogMessage(message: StoredMessage & { length: number }): LogMessage {
  const { position, hasMore } = getLogId(message);
  return { seq: message.seq, position, length: message.length, hasMore };
}
