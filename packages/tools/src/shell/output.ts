/** What a command says, at any volume: the end of it in memory, all of it in a file once it is long. */
import type { Readable } from "node:stream";
import { systemCode } from "../errors.ts";
import { countBreaks, formatBytes, keepTail, mostBytes, mostLines } from "../truncate.ts";
import type { LogFile, Logs } from "./log-file.ts";
import { createSafeText } from "./safe-text.ts";

export type StreamName = "stdout" | "stderr";

export interface OutputSnapshot {
  /** The end of the output, whole lines where possible. */
  text: string;
  /** What is missing from it and where it is; empty when nothing is. */
  notice: string;
  shownLines: number;
  totalLines: number;
  /** The file with the whole output, when there is one. */
  file: string | undefined;
}

export interface OutputOptions {
  logs: Logs;
  /** Names the file. */
  name: string;
  /** Hears every piece, made safe, in the order of arrival. */
  onText?: (stream: StreamName, text: string) => void;
}

/** Enough that whatever is cut off at the front could not have been shown anyway. */
const keptChars = mostBytes + 2;

const pieceBytes = 16 * 1024;

export class Output {
  readonly #options: OutputOptions;
  #tail = "";
  #bytes = 0;
  #lineBreaks = 0;
  #adding = 0;
  #log: Promise<LogFile> | undefined;
  #opened: LogFile | undefined;
  /** Counts pieces, so that a waiter can tell whether more has come. */
  arrivals = 0;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** Reads a stream to its end. A reader that is slow slows the program down, so nothing piles up. */
  async read(stream: Readable, name: StreamName): Promise<void> {
    const safe = createSafeText();
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        // In pieces that are small enough to be collected cheaply once they are written.
        for (let at = 0; at < chunk.length; at += pieceBytes) {
          await this.add(safe.push(chunk.subarray(at, at + pieceBytes)), name);
        }
      }
    } catch (error) {
      // A stream that we closed ourselves, because somebody else holds the other end, ends like this too.
      if (systemCode(error) !== "ERR_STREAM_PREMATURE_CLOSE") {
        await this.add(`[The ${name} of the command could not be read: ${String(error)}]\n`, name);
      }
    }
    await this.add(safe.end(), name);
  }

  /** Something that came is still being written. */
  get isBusy(): boolean {
    return this.#adding > 0;
  }

  /** The last line has not ended. */
  get isOpen(): boolean {
    return this.#tail !== "" && !this.#tail.endsWith("\n");
  }

  /** A remark of ours, on a line of its own. */
  async addNotice(notice: string): Promise<void> {
    await this.add(`${this.isOpen ? "\n" : ""}${notice}\n`, "stderr");
  }

  async add(text: string, stream: StreamName): Promise<void> {
    if (text === "") return;
    this.#adding++;
    try {
      await this.#take(text, stream);
    } finally {
      this.#adding--;
    }
  }

  async #take(text: string, stream: StreamName): Promise<void> {
    this.arrivals++;
    const all = this.#tail + text;
    this.#tail = all.length > 4 * keptChars ? all.slice(-keptChars) : all;
    this.#lineBreaks += countBreaks(text);
    this.#options.onText?.(stream, text);
    if (this.#opened?.isFull) {
      this.#bytes += Buffer.byteLength(text);
      return;
    }
    const bytes = Buffer.from(text);
    this.#bytes += bytes.length;
    if (this.#log) await (await this.#log).write(bytes);
    else if (this.#bytes > mostBytes || this.#lineBreaks >= mostLines) await this.#open(all);
  }

  /** Opens the file now, however little has been said. */
  async openLog(): Promise<LogFile> {
    return await (this.#log ?? this.#open(this.#tail));
  }

  #open(soFar: string): Promise<LogFile> {
    this.#log = this.#options.logs.open(this.#options.name).then(async (log) => {
      await log.write(Buffer.from(soFar));
      return (this.#opened = log);
    });
    return this.#log;
  }

  snapshot(): OutputSnapshot {
    const text = this.#tail.endsWith("\n") ? this.#tail.slice(0, -1) : this.#tail;
    const totalLines = this.#lineBreaks + (this.#tail === "" || this.#tail.endsWith("\n") ? 0 : 1);
    const kept = keepTail(text);
    const file = this.#opened?.failure === undefined ? this.#opened?.path : undefined;
    if (kept.by === undefined) return { text, notice: "", shownLines: totalLines, totalLines, file };
    const shown = kept.shownLines > 0 ? kept.text : endOf(text, mostBytes);
    const what =
      kept.shownLines > 0
        ? `Showing lines ${totalLines - kept.shownLines + 1}-${totalLines} of ${totalLines}.`
        : `Showing the last ${formatBytes(Buffer.byteLength(shown))} of line ${totalLines}, which is too long.`;
    const notice = `[${what} ${this.#whereIsTheRest()}]`;
    return { text: shown, notice, shownLines: kept.shownLines, totalLines, file };
  }

  #whereIsTheRest(): string {
    const log = this.#opened;
    if (!log) return "The full output is being saved.";
    if (log.failure !== undefined) return `The full output could not be saved (${log.failure}).`;
    return log.isFull ? `The beginning of the output is in ${log.path}` : `Full output: ${log.path}`;
  }

  async close(): Promise<void> {
    await (await this.#log)?.close();
  }
}

/** The last `maxBytes` bytes, less what would begin inside a code point. */
function endOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(-maxBytes));
  let from = Math.max(0, bytes.length - maxBytes);
  while (from < bytes.length && (bytes[from]! & 0xc0) === 0x80) from++;
  return bytes.toString("utf8", from);
}
