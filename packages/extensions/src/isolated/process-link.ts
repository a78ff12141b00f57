/** The host's side of the connections to the process of one extension. It believes nothing that comes over them. */
import type { Duplex } from "node:stream";
import type { AgentToolUpdate } from "@tau/agent";
import type { Clock } from "@tau/ai";
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { encodeFrame, FrameError, FrameReader } from "./frames.ts";
import type { ChildCall, HostcallFailure, HostMessage, SyncReply } from "./messages.ts";
import type { StreamBatch, StreamListener } from "./stream-batch.ts";
import { Throttle } from "./throttle.ts";
import { ExtensionError } from "../errors.ts";

/** Answers what the extension asks of the host. */
interface HostcallHandler {
  /** Never rejects. */
  handle(method: string, args: readonly unknown[], options: HostcallContext): Promise<SyncReply>;
}

export interface HostcallContext {
  signal: AbortSignal;
  onProgress: (update: AgentToolUpdate) => void;
}

interface LinkParts {
  channel: Duplex;
  sync: Duplex;
  clock: Clock;
  /** Shared by all processes of a session. */
  stream: StreamBatch;
  hostcalls: HostcallHandler;
  /** Everything that is no answer: `ready`, `loaded`, `failed`, `registered`, `problem`. */
  onMessage: (message: Record<string, unknown>) => void;
  /** The connection cannot continue, for this reason. Called once. */
  onBroken: (reason: string) => void;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  onUpdate?: ((update: AgentToolUpdate) => void) | undefined;
}

export interface CallAnswer {
  value?: unknown;
  changed?: Record<string, unknown> | undefined;
}

interface OpenCall {
  kind: ChildCall["kind"];
  resolve: (answer: CallAnswer) => void;
  reject: (error: Error) => void;
  onUpdate: CallOptions["onUpdate"];
}

/** Messages that nobody asked for: more are read later, so that the extension waits and not we. */
const unasked = { perSecond: 1_000, burst: 2_000 };
const reads = { perSecond: 5_000, burst: 10_000 };
/** The limit for reading messages, in bytes of text. */
const volume = { perSecond: 32 * 1024 * 1024, burst: 64 * 1024 * 1024 };
/** A value costs as much as so many bytes of text. */
const bytesPerValue = 100;
/** The limit for what waits to be read by the extension. */
const maxUnreadBytes = 64 * 1024 * 1024;
const maxOpenHostcalls = 1_000;
const pingEveryMs = 5_000;
/** Counts pings instead of time: while this process is busy itself, it hears nothing from the others. */
const maxUnansweredPings = 2;

export class ProcessLink implements StreamListener {
  readonly #parts: LinkParts;
  readonly #calls = new Map<number, OpenCall>();
  readonly #hostcalls = new Map<number, AbortController>();
  /** Aborts what the process waits for. The process can cancel nothing meanwhile, so only its end does. */
  readonly #reading = new AbortController();
  readonly #throttles: { unasked: Throttle; reads: Throttle; volume: Throttle };
  #lastId = 0;
  #receivedBytes = 0;
  #isReading = false;
  /** Since the process was last heard of. */
  #unansweredPings = 0;
  #cancelPing = (): void => {};
  #isOver = false;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    const { channel, sync, clock } = parts;
    this.#throttles = {
      unasked: new Throttle(clock, unasked),
      reads: new Throttle(clock, reads),
      volume: new Throttle(clock, volume),
    };
    this.#listen(channel, (message) => this.#receive(message));
    this.#listen(sync, (message) => void this.#answerRead(message));
    this.#pingLater();
  }

  /** Whether every call fails from now on. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Bytes that came from the process. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Rejects when the extension's code does, and when the process ends. */
  call(call: ChildCall, { signal, onUpdate }: CallOptions = {}): Promise<CallAnswer> {
    this.#parts.stream.flush();
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(new ExtensionError("unavailable", "Its process has ended."));
      // Before the call is open: one that is too large is never sent.
      const frame = encodeFrame({ type: "call", id, call });
      const abort = () => this.send({ type: "abort", id });
      const done = () => signal?.removeEventListener("abort", abort);
      this.#calls.set(id, {
        kind: call.kind,
        onUpdate,
        resolve: signal ? (answer) => (done(), resolve(answer)) : resolve,
        reject: signal ? (error) => (done(), reject(error)) : reject,
      });
      this.write(frame);
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    });
  }

  send(message: HostMessage): void {
    this.write(encodeFrame(message));
  }

  /** Fails all open calls. `endsCommands`: a command may be what ends the session, and has then done its work. */
  end(reason: string, { endsCommands = false } = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#parts.stream.remove(this);
    this.#cancelPing();
    for (const throttle of Object.values(this.#throttles)) throttle.close();
    for (const controller of [...this.#hostcalls.values(), this.#reading]) controller.abort();
    for (const { kind, resolve, reject } of this.#calls.values()) {
      if (endsCommands && kind === "command") resolve({});
      else reject(new ExtensionError("unavailable", reason));
    }
    this.#calls.clear();
    this.#parts.channel.destroy();
    this.#parts.sync.destroy();
  }

  write(frame: Buffer): void {
    if (this.#isOver) return;
    const { channel } = this.#parts;
    channel.write(frame);
    if (channel.writableLength > maxUnreadBytes) this.#break("It does not read what it is sent.");
  }

  #listen(stream: Duplex, receive: (message: unknown) => void): void {
    const reader = new FrameReader({ isBounded: true });
    stream.on("data", (piece: Buffer) => {
      this.#receivedBytes += piece.length;
      this.#unansweredPings = 0;
      const before = reader.values;
      try {
        for (const message of reader.push(piece)) if (!this.#isOver) receive(message);
        const values = reader.values - before;
        this.#throttles.volume.count(stream, piece.length + values * bytesPerValue);
      } catch (error) {
        this.#break(getErrorMessage(error));
      }
    });
    stream.on("error", () => undefined);
  }

  #break(reason: string): void {
    if (this.#isOver) return;
    this.end(reason);
    this.#parts.onBroken(reason);
  }

  /** Ids that are not known, and messages that are not valid, cost their sender nothing but the message. */
  #receive(message: unknown): void {
    if (!isRecord(message)) return;
    const { type, id } = message;
    const call = typeof id === "number" ? this.#calls.get(id) : undefined;
    if (type === "answer" && call) {
      this.#calls.delete(id as number);
      return settle(call, message);
    }
    this.#throttles.unasked.count(this.#parts.channel);
    if (type === "update") return void (call && isUpdate(message["update"]) && call.onUpdate?.(message["update"]));
    if (type === "cancel") return this.#hostcalls.get(id as number)?.abort();
    if (type === "hostcall") return void this.#answerHostcall(message);
    if (type !== "answer" && type !== "pong") this.#parts.onMessage(message);
  }

  async #answerHostcall({ id, method, args }: Record<string, unknown>): Promise<void> {
    if (typeof id !== "number" || this.#hostcalls.has(id)) return;
    if (typeof method !== "string" || !Array.isArray(args)) return this.#reply(id, { error: notValid });
    if (this.#hostcalls.size >= maxOpenHostcalls)
      return this.#reply(id, { error: { code: "denied", message: "Too many calls are open at a time." } });
    const controller = new AbortController();
    this.#hostcalls.set(id, controller);
    const onProgress = (update: AgentToolUpdate) => this.#sendProgress(id, update);
    const reply = await this.#parts.hostcalls.handle(method, args, { signal: controller.signal, onProgress });
    this.#hostcalls.delete(id);
    this.#reply(id, reply);
  }

  /**
   * Passes on an update of a tool. An update that cannot be sent is left out: another tool reports it, and must not fail for
   * it.
   */
  #sendProgress(id: number, update: AgentToolUpdate): void {
    try {
      this.send({ type: "progress", id, update });
    } catch (error) {
      if (!(error instanceof FrameError) && !(error instanceof TypeError)) throw error;
    }
  }

  #reply(id: number, reply: SyncReply): void {
    this.#parts.stream.flush();
    this.write(encodeReply({ type: "reply", id, ...reply }, (error) => ({ type: "reply", id, error })));
  }

  /** The process waits for each answer. What comes without waiting was not sent by our code in it. */
  async #answerRead(request: unknown): Promise<void> {
    if (this.#isReading) return this.#break("It did not wait for an answer.");
    this.#isReading = true;
    const { method, args } = isRecord(request) ? request : {};
    const { signal } = this.#reading;
    const reply: SyncReply =
      typeof method === "string" && Array.isArray(args)
        ? await this.#parts.hostcalls.handle(method, args, { signal, onProgress: () => {} })
        : { error: notValid };
    this.#throttles.reads.delay(() => {
      this.#isReading = false;
      this.#unansweredPings = 0;
      if (!this.#isOver) this.#parts.sync.write(encodeReply(reply, (error) => ({ error })));
    });
  }

  /** A process that is in an endless loop says nothing at all. One that waits for an answer of ours cannot. */
  #pingLater(): void {
    this.#cancelPing = this.#parts.clock.setTimer(pingEveryMs, () => {
      if (!this.#isReading && this.#unansweredPings >= maxUnansweredPings)
        return this.#break(`It did not answer for ${(maxUnansweredPings * pingEveryMs) / 1_000} seconds.`);
      this.#unansweredPings++;
      this.send({ type: "ping" });
      this.#pingLater();
    });
  }
}

const notValid: HostcallFailure = { code: "invalid_request", message: "The call is not valid." };

/** A result that cannot be passed on is a failure of the call, not of the connection. */
function encodeReply(reply: object, toFailure: (error: HostcallFailure) => object): Buffer {
  try {
    return encodeFrame(reply);
  } catch (error) {
    return encodeFrame(toFailure({ code: "io", message: getErrorMessage(error) }));
  }
}

function settle({ resolve, reject }: OpenCall, { value, changed, error }: Record<string, unknown>): void {
  if (error !== undefined) {
    const message = isRecord(error) && typeof error["message"] === "string" ? error["message"] : "It failed.";
    return reject(new ExtensionError("failed", message));
  }
  resolve({ value, changed: isRecord(changed) ? changed : undefined });
}

const isUpdate = (value: unknown): value is AgentToolUpdate => isRecord(value) && Array.isArray(value["content"]);
