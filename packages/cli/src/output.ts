/**
 * Standard output and standard error. Short output is written directly, because loading a stream takes longer, and so is
 * everything for a file, because the stream of a file ignores that a disk took only a part.
 */
import { writeSync } from "node:fs";
import type { Writable } from "node:stream";

/** Half of the capacity of a pipe. This much is written without blocking, even if it is not read. */
const maxDirectBytes = 32 * 1024;

/** How much may wait for a slow reader, not counting the last write. */
const maxWaitingBytes = 16 * 1024 ** 2;

export interface OutputPorts {
  fd: number;
  /** Whether a write may have to wait for a reader. */
  hasReader: () => boolean;
  /** Called when the first stream is needed. */
  stream: () => Writable;
  /** Called when nothing more can be written. */
  onBroken: () => void;
}

type State = { kind: "direct"; written: number } | { kind: "stream"; stream: Writable } | { kind: "broken" };

/** Writes all texts of one turn of the event loop together. */
export class Output {
  readonly #ports: OutputPorts;
  #state: State = { kind: "direct", written: 0 };
  #pending = "";
  #failure: string | undefined;

  constructor(ports: OutputPorts) {
    this.#ports = ports;
  }

  write(text: string): void {
    if (this.#pending === "") setImmediate(() => this.flush());
    this.#pending += text;
  }

  /** Writes the pending text: to the descriptor while that cannot block, then to a stream, which waits for the reader. */
  flush(): void {
    const text = this.#pending;
    this.#pending = "";
    if (text === "" || this.#state.kind === "broken") return;
    const rest = this.#state.kind === "direct" ? this.#writeDirect(Buffer.from(text), this.#state.written) : text;
    if (rest.length > 0) this.#writeStream(rest);
  }

  /** Resolves when more can be written; undefined if it can now. */
  drained(): Promise<void> | undefined {
    const state = this.#state;
    if (state.kind !== "stream" || !state.stream.writableNeedDrain || state.stream.destroyed) return undefined;
    return new Promise((resolve) => {
      state.stream.once("drain", resolve);
      state.stream.once("close", resolve);
    });
  }

  /** Resolves when everything is written, or nothing more can be. */
  async flushed(): Promise<void> {
    this.flush();
    const state = this.#state;
    if (state.kind !== "stream" || state.stream.destroyed || state.stream.writableLength === 0) return;
    await new Promise<void>((resolve) => {
      state.stream.write("", () => resolve());
      state.stream.once("close", resolve);
    });
  }

  /** Returns what is left to write to the stream. */
  #writeDirect(bytes: Buffer, before: number): Buffer {
    if (before + bytes.length > maxDirectBytes && this.#ports.hasReader()) return bytes;
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#ports.fd, bytes, written);
    } catch (error) {
      // The pipe is full. The stream waits for it.
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return bytes.subarray(written);
      this.#break(error);
      return bytes.subarray(bytes.length);
    }
    this.#state = { kind: "direct", written: before + written };
    return bytes.subarray(written);
  }

  #writeStream(rest: Buffer | string): void {
    if (this.#state.kind === "broken") return;
    if (this.#state.kind === "direct") {
      const stream = this.#ports.stream();
      stream.on("error", (error) => this.#break(error));
      this.#state = { kind: "stream", stream };
    }
    const { stream } = this.#state;
    // Writers of events do not wait, so this ends a run whose events are not read.
    if (stream.writableLength > maxWaitingBytes) return this.#break(new Error("the reader has stopped reading"));
    stream.write(rest);
  }

  /** Why nothing more can be written; undefined if it can, or if the reader has closed the pipe. */
  get failure(): string | undefined {
    return this.#failure;
  }

  #break(error: unknown): void {
    this.#state = { kind: "broken" };
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "EPIPE") this.#failure = message;
    this.#ports.onBroken();
  }
}
