import type { Writable } from "node:stream";
import type { Clock } from "@tau/ai";

/** A reader of half a kilobyte per second takes this before it counts as stuck. Smaller pieces cost more system calls. */
const pieceBytes = 16 * 1024;
/** Less than this is not waited for. */
const maxReadyBytes = 16 * 1024;
/** A reader is stuck if it has taken nothing for this long, while this much waits for it. */
const maxStuckMs = 30_000;
const maxStuckBytes = 16 * 1024 ** 2;

interface SlowWriterPorts {
  stream: Writable;
  clock: Clock;
  onError: (error: Error) => void;
}

/** Writes to a reader that may be slow. Pieces are written one by one, because each that is taken shows that it reads. */
export class SlowWriter {
  readonly #ports: SlowWriterPorts;
  /** The bytes that are being written, and those that follow. */
  #current: Buffer = Buffer.alloc(0);
  #next: Buffer[] = [];
  #waitingBytes = 0;
  #lastTakenAt = 0;
  #onEmpty: (() => void)[] = [];

  constructor(ports: SlowWriterPorts) {
    this.#ports = ports;
    ports.stream.on("error", ports.onError);
    ports.stream.once("close", () => this.#settle());
  }

  /** Whether the reader has stopped reading. */
  get isStuck(): boolean {
    return this.#waitingBytes > maxStuckBytes && this.#ports.clock.monotonic() - this.#lastTakenAt >= maxStuckMs;
  }

  write(bytes: Buffer): void {
    const isIdle = this.#waitingBytes === 0;
    this.#next.push(bytes);
    this.#waitingBytes += bytes.length;
    if (!isIdle) return;
    this.#lastTakenAt = this.#ports.clock.monotonic();
    this.#writePiece();
  }

  /** Resolves when everything is taken, or nothing more will be; undefined if at most `maxBytes` wait. */
  drained(maxBytes = maxReadyBytes): Promise<void> | undefined {
    if (this.#waitingBytes <= maxBytes || this.#ports.stream.destroyed) return undefined;
    return new Promise((resolve) => void this.#onEmpty.push(resolve));
  }

  #writePiece(): void {
    if (this.#current.length === 0) this.#current = this.#next.shift() ?? this.#current;
    if (this.#current.length === 0) return this.#settle();
    const piece = this.#current.subarray(0, pieceBytes);
    this.#current = this.#current.subarray(pieceBytes);
    this.#ports.stream.write(piece, (error) => {
      if (error) return this.#settle();
      this.#waitingBytes -= piece.length;
      this.#lastTakenAt = this.#ports.clock.monotonic();
      this.#writePiece();
    });
  }

  #settle(): void {
    for (const resolve of this.#onEmpty.splice(0)) resolve();
  }
}
