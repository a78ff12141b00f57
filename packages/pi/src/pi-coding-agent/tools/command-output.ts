/** The output of a command as it comes: its end in memory, and all of it in a file once it is too long to show. */
import { randomBytes } from "node:crypto";
import { createWriteStream, type WriteStream } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { DEFAULT_MAX_BYTES, truncateTail, type TruncationResult } from "./truncate.ts";

/** More than is shown, so that its beginning can be cut at a line. */
const maxKeptLength = DEFAULT_MAX_BYTES * 2;

export class CommandOutput {
  readonly #decoder = new StringDecoder("utf8");
  #tail = "";
  /** All output so far, until it goes to the file. */
  #chunks: Buffer[] = [];
  #totalBytes = 0;
  #droppedLines = 0;
  #log: { path: string; stream: WriteStream } | undefined;

  get logPath(): string | undefined {
    return this.#log?.path;
  }

  add(data: Buffer): void {
    this.#totalBytes += data.length;
    this.#tail += this.#decoder.write(data);
    if (this.#log) this.#log.stream.write(data);
    else {
      this.#chunks.push(data);
      if (this.#totalBytes > DEFAULT_MAX_BYTES) this.#openLog();
    }
    if (this.#tail.length > maxKeptLength * 2) this.#drop();
  }

  /** The lines that are shown, and how many there were. */
  getTail(): TruncationResult {
    const tail = truncateTail(this.#tail);
    if (this.#droppedLines === 0) return tail;
    const totalLines = tail.totalLines + this.#droppedLines;
    return {
      ...tail,
      truncated: true,
      truncatedBy: tail.truncatedBy ?? "bytes",
      totalLines,
      totalBytes: this.#totalBytes,
    };
  }

  /** Keeps all output in a file, if it was cut. Resolves when it is written. */
  async close(): Promise<void> {
    if (!this.#log && this.getTail().truncated) this.#openLog();
    const stream = this.#log?.stream;
    if (stream) await new Promise<void>((resolve) => stream.end(resolve));
  }

  #openLog(): void {
    const path = join(tmpdir(), `pi-bash-${randomBytes(8).toString("hex")}.log`);
    const stream = createWriteStream(path, { mode: 0o600 });
    this.#log = { path, stream };
    for (const chunk of this.#chunks) stream.write(chunk);
    this.#chunks = [];
  }

  #drop(): void {
    const cut = this.#tail.length - maxKeptLength;
    this.#droppedLines += this.#tail.slice(0, cut).split("\n").length - 1;
    this.#tail = this.#tail.slice(cut);
  }
}
