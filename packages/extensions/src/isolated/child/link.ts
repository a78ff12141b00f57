/** The two connections of an extension's process to its host: one for messages, and one on which it waits for answers. */
import { readSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { encodeFrame, FrameReader } from "../frames.ts";
import type { ChildMessage, HostcallFailure, HostMessage, SyncReply, SyncRequest } from "../messages.ts";

const channelDescriptor = 3;
const syncDescriptor = 4;
const maxBegunMs = 1_000;

/** The error that a hostcall of the extension fails with. */
export class HostcallError extends Error {
  override readonly name = "HostcallError";
  readonly code: HostcallFailure["code"];

  constructor({ code, message }: HostcallFailure) {
    super(message);
    this.code = code;
  }
}

interface HostcallOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((update: never) => void) | undefined;
}

interface Pending {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  onProgress: HostcallOptions["onProgress"];
}

export class HostLink {
  readonly #socket = new Socket({ fd: channelDescriptor, readable: true, writable: true });
  readonly #pending = new Map<number, Pending>();
  readonly #reads = new Map<string, unknown>();
  readonly #begun = new Set<Promise<unknown>>();
  #lastId = 0;

  /** `receive` gets all messages but the ends of hostcalls. The process ends with the connection. */
  listen(receive: (message: HostMessage) => void): void {
    const reader = new FrameReader();
    this.#socket.on("data", (piece: Buffer) => {
      this.#reads.clear();
      for (const message of reader.push(piece) as HostMessage[]) {
        if (message.type === "reply") this.#settle(message);
        else if (message.type === "progress") this.#pending.get(message.id)?.onProgress?.(message.update as never);
        else receive(message);
      }
    });
    const end = () => process.exit(0);
    this.#socket.on("end", end).on("close", end).on("error", end);
  }

  send(message: ChildMessage): void {
    this.#socket.write(encodeFrame(message));
  }

  /** Rejects with a `HostcallError`. */
  call(method: string, args: readonly unknown[], { signal, onProgress }: HostcallOptions = {}): Promise<unknown> {
    if (signal?.aborted) return Promise.reject(new HostcallError({ code: "timeout", message: "Aborted." }));
    this.#reads.clear();
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const cancel = () => this.send({ type: "cancel", id });
      const done = () => signal?.removeEventListener("abort", cancel);
      this.#pending.set(id, {
        onProgress,
        resolve: (value) => (done(), resolve(value)),
        reject: (error) => (done(), reject(error)),
      });
      signal?.addEventListener("abort", cancel, { once: true });
      this.send({ type: "hostcall", id, method, args });
    });
  }

  /** Nobody waits for it, so nobody could catch its failure: it is denied, and the host has written that down. */
  notify(method: string, args: readonly unknown[]): void {
    this.begin(method, args).catch(() => undefined);
  }

  /** Like `call`, for what the extension need not wait for. */
  begin(method: string, args: readonly unknown[]): Promise<unknown> {
    const work = this.call(method, args);
    this.#begun.add(work);
    return work.finally(() => this.#begun.delete(work));
  }

  /** Resolves when the host has done what was begun, or after a second: a person may be asked about it. */
  async whenDone(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, maxBegunMs)));
    await Promise.race([Promise.allSettled(this.#begun), late]);
    clearTimeout(timer);
  }

  /** Waits for the host without letting anything else happen in this process. Throws a `HostcallError`. */
  callSync(method: string, args: readonly unknown[] = []): unknown {
    this.#reads.clear();
    return this.#exchange({ method, args });
  }

  /**
   * Like `callSync`, for what stays unchanged while the extension does nothing: it is asked for once in a turn of the event
   * loop. Each caller gets a copy, and may change it.
   */
  read(method: string, args: readonly unknown[] = []): unknown {
    const key = JSON.stringify([method, args]);
    if (!this.#reads.has(key)) {
      // A session changes also while the host has nothing to tell this process.
      if (this.#reads.size === 0) setImmediate(() => this.#reads.clear());
      this.#reads.set(key, this.#exchange({ method, args }));
    }
    return structuredClone(this.#reads.get(key));
  }

  #exchange(request: SyncRequest): unknown {
    writeAll(encodeFrame(request));
    const { error, value } = receiveReply();
    if (error) throw new HostcallError(error);
    return value;
  }

  #settle({ id, value, error }: Extract<HostMessage, { type: "reply" }>): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error) pending?.reject(new HostcallError(error));
    else pending?.resolve(value);
  }
}

function writeAll(frame: Buffer): void {
  for (let offset = 0; offset < frame.length;) offset += writeSync(syncDescriptor, frame, offset);
}

function receiveReply(): SyncReply {
  const reader = new FrameReader();
  for (;;) {
    const piece = Buffer.allocUnsafe(64 * 1024);
    const length = readSync(syncDescriptor, piece, 0, piece.length, null);
    if (length === 0) process.exit(0);
    const [reply] = reader.push(piece.subarray(0, length));
    if (reply !== undefined) return reply as SyncReply;
  }
}
