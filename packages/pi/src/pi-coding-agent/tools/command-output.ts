/** The output of a command as it comes: its end in memory, and all of it in a file once it is too long to show. */
import { randomBytes } from "node:crypto";
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { systemCode } from "@tau/tools/platform";
import { DEFAULT_MAX_BYTES, truncateTail, type TruncationResult } from "./truncate.ts";

/** More than is shown, so that its beginning can be cut at a line. */
const maxKeptLength = DEFAULT_MAX_BYTES * 2;

export class CommandOutput {
  readonly #decoder = new StringDecoder("utf8");
  #tail = "";
  /** Output that is not in the file yet. */
  #chunks: Buffer[] = [];
  #totalBytes = 0;
  #droppedLines = 0;
  #log: { path: string; descriptor: number } | "failed" | undefined;
  #isClosed = false;

  /** The file with all output. Undefined if there is none, or if it could not be written. */
  get logPath(): string | undefined {
    return this.#log === "failed" ? undefined : this.#log?.path;
  }

  /** Does nothing after `close`. */
  add(data: Buffer): void {
    if (this.#isClosed) return;
    this.#totalBytes += data.length;
    this.#tail += this.#decoder.write(data);
    this.#chunks.push(data);
    if (this.#totalBytes > DEFAULT_MAX_BYTES) this.#writeLog();
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

  /** Keeps all output in a file, if it was cut. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.getTail().truncated) this.#writeLog();
    if (typeof this.#log === "object") closeSync(this.#log.descriptor);
  }

  /** Synchronous, so that a command waits for a slow disk and its output does not fill the memory. */
  #writeLog(): void {
    const chunks = this.#chunks.splice(0);
    if (this.#log === "failed") return;
    try {
      this.#log ??= openLog();
      for (const chunk of chunks) writeFileSync(this.#log.descriptor, chunk);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      if (this.#log) removeLog(this.#log);
      this.#log = "failed";
    }
  }

  #drop(): void {
    const cut = this.#tail.length - maxKeptLength;
    this.#droppedLines += this.#tail.slice(0, cut).split("\n").length - 1;
    this.#tail = this.#tail.slice(cut);
  }
}

function openLog(): { path: string; descriptor: number } {
  const path = join(tmpdir(), `pi-bash-${randomBytes(8).toString("hex")}.log`);
  return { path, descriptor: openSync(path, "wx", 0o600) };
}

/** A part of the output would be taken for all of it. */
function removeLog({ path, descriptor }: { path: string; descriptor: number }): void {
  closeSync(descriptor);
  rmSync(path, { force: true });
}
