/**
 * Standard output and standard error. Short output is written directly, because loading a stream takes longer, and so is
 * everything for a file, because the stream of a file ignores that a disk took only a part.
 */
import { writeSync } from "node:fs";
import type { Writable } from "node:stream";
import type { Clock } from "@tau/ai";
import { SlowWriter } from "./slow-writer.ts";

/** Half of the capacity of a pipe. This much is written without blocking, even if it is not read. */
const maxDirectBytes = 32 * 1024;

interface OutputPorts {
  fd: number;
  /** Whether a write may have to wait for a reader. */
  hasReader: () => boolean;
  /** Called when the first stream is needed. */
  stream: () => Writable;
  clock: Clock;
  /** Called when nothing more can be written. */
  onBroken: () => void;
}

type State = { kind: "direct"; written: number } | { kind: "slow"; writer: SlowWriter } | { kind: "broken" };

/** Writes all texts of one turn of the event loop together. */
export class Output {
  readonly #ports: OutputPorts;
  #state: State = { kind: "direct", written: 0 };
  #pending = "";
  #failure: string | undefined;

  constructor(ports: OutputPorts) {
    this.#ports = ports;
  }

  write(content: string | Uint8Array): void {
    if (typeof content !== "string") {
      this.flush();
      return this.#writeNow(Buffer.from(content));
    }
    if (this.#pending === "") setImmediate(() => this.flush());
    this.#pending += content;
  }

  /** Writes the pending text. */
  flush(): void {
    const text = this.#pending;
    this.#pending = "";
    if (text !== "") this.#writeNow(Buffer.from(text));
  }

  /** To the descriptor while that cannot block, then slowly. */
  #writeNow(bytes: Buffer): void {
    if (this.#state.kind === "broken") return;
    const rest = this.#state.kind === "direct" ? this.#writeDirect(bytes, this.#state.written) : bytes;
    if (rest.length > 0) this.#writeSlowly(rest);
  }

  /** Resolves when more can be written; undefined if it can now. */
  drained(): Promise<void> | undefined {
    return this.#state.kind === "slow" ? this.#state.writer.drained() : undefined;
  }

  /** Resolves when everything is written, or nothing more can be. */
  async flushed(): Promise<void> {
    this.flush();
    if (this.#state.kind === "slow") await this.#state.writer.drained(0);
  }

  /** Returns what the slow writer has to write. */
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

  #writeSlowly(rest: Buffer): void {
    if (this.#state.kind === "broken") return;
    if (this.#state.kind === "direct") {
      const { stream, clock } = this.#ports;
      const writer = new SlowWriter({ stream: stream(), clock, onError: (error) => this.#break(error) });
      this.#state = { kind: "slow", writer };
    }
    const { writer } = this.#state;
    // Writers of events do not wait, so this ends a run whose events are not read.
    if (writer.isStuck) return this.#break(new Error("the reader has stopped reading"));
    writer.write(rest);
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
