/** Collects the output of a command, of any size: the end in memory, all of it in a file once it is long. */
import type { Readable } from "node:stream";
import { systemCode } from "../errors.ts";
import { formatBytes, keepTail, defaultMaxBytes, defaultMaxLines } from "../truncate.ts";
import type { LogFile, Logs } from "./log-file.ts";
import { leftoverNotice } from "./pid-namespace.ts";
import { createSafeText } from "./safe-text.ts";
import { Tail } from "./tail.ts";
import { nextBoundary } from "./code-points.ts";
import { countLineFeeds } from "./words.ts";

export type StreamName = "stdout" | "stderr";

interface OutputSnapshot {
  /** The end of the output, whole lines where possible. */
  text: string;
  /** How much of `text` comes before the remarks of ours at its end, in UTF-16 units. */
  outputLength: number;
  /** Says what is missing from it and where it is; empty when nothing is. */
  notice: string;
  shownLines: number;
  totalLines: number;
}

/** The file with all of the output, or why there is none. */
export type KeptOutput = { file: string } | { failure: string };

export interface OutputOptions {
  logs: Logs;
  /** Names the file. */
  name: string;
  /** Whether commands see other files than the file tools, and may not find the file. Default false. */
  isInSandbox?: boolean;
  /** Gets every chunk of stdout as it is, in the order of arrival. Must not throw. */
  onBytes?: (bytes: Uint8Array) => void;
  /** Gets every chunk, made safe, in the order of arrival. The bytes are valid during the call. Must not throw. */
  onText?: (stream: StreamName, text: Buffer) => void;
}

/** Enough that the part that is cut off at the front, half a code point included, could not have been shown anyway. */
const keptBytes = defaultMaxBytes + 4;
const lineFeed = 0x0a;

export class Output {
  readonly #options: OutputOptions;
  readonly #tail = new Tail(keptBytes);
  #bytes = 0;
  #lineBreaks = 0;
  /** The last line has begun and not ended. */
  isOpen = false;
  #adding = 0;
  /** The first one is written into the output by the process that contains the command. */
  readonly #remarks = [leftoverNotice];
  #log: Promise<LogFile> | undefined;
  #opened: LogFile | undefined;
  /** Counts chunks, so that a caller can tell whether more has come. */
  arrivals = 0;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** Reads a stream to its end. A slow reader slows the program down, so that nothing piles up in memory. */
  async read(stream: Readable, name: StreamName): Promise<void> {
    const safe = createSafeText();
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        if (name === "stdout") this.#options.onBytes?.(chunk);
        await this.#add(safe.push(chunk), name);
      }
    } catch (error) {
      // A stream that we closed ourselves, because another process keeps the other end open, ends like this too.
      if (systemCode(error) !== "ERR_STREAM_PREMATURE_CLOSE") {
        await this.addNotice(`[The ${name} of the command could not be read: ${String(error)}]`);
      }
    }
    await this.#add(safe.end(), name);
  }

  /** A chunk is still being written. */
  get isBusy(): boolean {
    return this.#adding > 0;
  }

  /** Adds a remark of ours, on a line of its own. */
  async addNotice(notice: string): Promise<void> {
    this.#remarks.push(notice);
    await this.#add(Buffer.from(`${this.isOpen ? "\n" : ""}${notice}\n`), "stderr");
  }

  /** The caller must not change `text` until it is written. */
  async #add(text: Buffer, stream: StreamName): Promise<void> {
    if (text.length === 0) return;
    this.#adding++;
    try {
      await this.#take(text, stream);
    } finally {
      this.#adding--;
    }
  }

  async #take(text: Buffer, stream: StreamName): Promise<void> {
    this.arrivals++;
    this.#bytes += text.length;
    this.#lineBreaks += countLineFeeds(text);
    this.isOpen = text.at(-1) !== lineFeed;
    if (!this.#log && this.#isTooLong) void this.#open();
    this.#tail.push(text);
    this.#options.onText?.(stream, text);
    if (this.#log) await (await this.#log).write(text);
  }

  /** More than can be shown; the break after the last line is not shown anyway. */
  get #isTooLong(): boolean {
    const isOpen = this.isOpen;
    return this.#bytes - (isOpen ? 0 : 1) > defaultMaxBytes || this.#lineBreaks + (isOpen ? 1 : 0) > defaultMaxLines;
  }

  /** Opens the file now, however little has been said. */
  async openLog(): Promise<void> {
    await (this.#log ?? this.#open());
  }

  /** Called while everything is still in memory. */
  #open(): Promise<LogFile> {
    const soFar = Buffer.from(this.#tail.bytes);
    this.#log = this.#options.logs.open(this.#options.name).then(async (log) => {
      await log.write(soFar);
      return (this.#opened = log);
    });
    return this.#log;
  }

  /** Where all of it is, or why it is nowhere; undefined as long as no file was needed. */
  get kept(): KeptOutput | undefined {
    const log = this.#opened;
    if (!log) return undefined;
    return log.failure === undefined ? { file: log.path } : { failure: log.failure };
  }

  snapshot(): OutputSnapshot {
    const all = this.#tail.bytes;
    const end = all.at(-1) === lineFeed ? all.length - 1 : all.length;
    const text = all.toString("utf8", 0, end);
    const totalLines = this.#lineBreaks + (this.isOpen ? 1 : 0);
    const kept = keepTail(text);
    if (kept.by === undefined) {
      return { text, outputLength: this.#getOutputLength(text), notice: "", shownLines: totalLines, totalLines };
    }
    const shown = kept.shownLines > 0 ? kept.text : all.toString("utf8", nextBoundary(all, end - defaultMaxBytes), end);
    const what =
      kept.shownLines > 0
        ? `Showing lines ${totalLines - kept.shownLines + 1}-${totalLines} of ${totalLines}.`
        : `Showing the last ${formatBytes(Buffer.byteLength(shown))} of line ${totalLines}, which is too long.`;
    return {
      text: shown,
      outputLength: this.#getOutputLength(shown),
      notice: `[${what} ${this.#whereIsTheRest()}]`,
      shownLines: kept.shownLines,
      totalLines,
    };
  }

  /** Leaves out the last lines as long as they are remarks. */
  #getOutputLength(text: string): number {
    const remark = this.#remarks.find((each) => text === each || text.endsWith(`\n${each}`));
    return remark === undefined ? text.length : this.#getOutputLength(text.slice(0, -remark.length - 1));
  }

  #whereIsTheRest(): string {
    const log = this.#opened;
    if (!log) return "The full output is being saved.";
    if (log.failure !== undefined) return `The full output is not kept (${log.failure}).`;
    const how = this.#options.isInSandbox ? " (for read and grep; commands may not see it)" : "";
    return (log.isFull ? `The beginning of the output is in ${log.path}` : `Full output: ${log.path}`) + how;
  }

  async close(): Promise<void> {
    await (await this.#log)?.close();
  }
}
