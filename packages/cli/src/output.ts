/** Standard output and standard error, with as little as possible between a text and its descriptor. */
import { writeSync } from "node:fs";
import type { Writable } from "node:stream";

/** Half of what a pipe holds: so much can be written without waiting for whoever reads. */
const freeBytes = 32 * 1024;

/** So much may wait for a slow reader, besides what is written last. */
const maxWaitingBytes = 16 * 1024 ** 2;

export interface OutputPorts {
  fd: number;
  /** Made when it is needed: a stream is more to load than most runs have to say. */
  stream: () => Writable;
  /** Whoever reads has left. */
  onBroken: () => void;
}

type Way = { kind: "direct"; written: number } | { kind: "stream"; stream: Writable } | { kind: "broken" };

/** Texts of one turn of the event loop are written together. */
export class Output {
  readonly #ports: OutputPorts;
  #way: Way = { kind: "direct", written: 0 };
  #waiting = "";
  #failure: string | undefined;

  constructor(ports: OutputPorts) {
    this.#ports = ports;
  }

  write(text: string): void {
    if (this.#waiting === "") setImmediate(() => this.flush());
    this.#waiting += text;
  }

  /** Hands over what waits: to the descriptor while that cannot block, else to a stream that waits for the reader. */
  flush(): void {
    const text = this.#waiting;
    this.#waiting = "";
    if (text === "" || this.#way.kind === "broken") return;
    const rest = this.#way.kind === "direct" ? this.#writeDirect(Buffer.from(text), this.#way.written) : text;
    if (rest.length > 0) this.#writeStream(rest);
  }

  /** Undefined when there is room for more. */
  drained(): Promise<void> | undefined {
    const way = this.#way;
    if (way.kind !== "stream" || !way.stream.writableNeedDrain || way.stream.destroyed) return undefined;
    return new Promise((resolve) => {
      way.stream.once("drain", resolve);
      way.stream.once("close", resolve);
    });
  }

  /** Resolves when everything has arrived, or nothing more can. */
  async flushed(): Promise<void> {
    this.flush();
    const way = this.#way;
    if (way.kind !== "stream" || way.stream.destroyed || way.stream.writableLength === 0) return;
    await new Promise<void>((resolve) => {
      way.stream.write("", () => resolve());
      way.stream.once("close", resolve);
    });
  }

  /** Returns what is left for the stream. */
  #writeDirect(bytes: Buffer, before: number): Buffer {
    if (before + bytes.length > freeBytes) return bytes;
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#ports.fd, bytes, written);
    } catch (error) {
      // A pipe that is full for now is waited for by the stream.
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return bytes.subarray(written);
      this.#break(error);
      return bytes.subarray(bytes.length);
    }
    this.#way = { kind: "direct", written: before + written };
    return bytes.subarray(written);
  }

  #writeStream(rest: Buffer | string): void {
    if (this.#way.kind === "broken") return;
    if (this.#way.kind === "direct") {
      const stream = this.#ports.stream();
      stream.on("error", (error) => this.#break(error));
      this.#way = { kind: "stream", stream };
    }
    const { stream } = this.#way;
    // Nobody waits for a listener to write, so this is where a run ends whose events nobody takes.
    if (stream.writableLength > maxWaitingBytes) return this.#break(new Error("whoever reads it has stopped reading"));
    stream.write(rest);
  }

  /** Why nothing arrives any more; undefined when it does, or when whoever reads has left of their own will. */
  get failure(): string | undefined {
    return this.#failure;
  }

  #break(error: unknown): void {
    this.#way = { kind: "broken" };
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "EPIPE") this.#failure = message;
    this.#ports.onBroken();
  }
}
