/**
 * Cuts what comes from a terminal into keys, answers and pastes, wherever the pieces that arrive begin and end. Nothing is
 * lost and nothing changes its place: without pauses, the same input gives the same events however it is cut.
 */
import { EventEmitter } from "node:events";
import { getReportedText, parseReport } from "./report.ts";
import { findSequenceEnd, isPartialAnswer } from "./sequence.ts";

export interface StdinBufferOptions {
  /** How long to wait for the rest of a sequence. Default 50 ms. */
  timeout?: number;
  /** How long Escape alone waits for what would make it Alt. Default 10 ms. */
  escapeTimeout?: number;
  /** Whether the terminal was just asked something: what may be the beginning of its answer then waits longer. */
  isAnswerExpected?: () => boolean;
}

export type StdinBufferEventMap = {
  /** Emitted for one key, or one answer of the terminal. */
  data: [string];
  /** Emitted for one paste, without its brackets. */
  paste: [string];
};

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";

/** No key begins like an answer, so there is time: the rest of one would otherwise be taken for typed text. */
const answerTimeoutMs = 1_000;

export class StdinBuffer extends EventEmitter<StdinBufferEventMap> {
  readonly #timeoutMs: number;
  readonly #escapeTimeoutMs: number;
  readonly #isAnswerExpected: () => boolean;
  readonly #decoder = new Utf8Decoder();
  /** The input. The part that is not emitted yet begins at `#index`. */
  #text = "";
  #index = 0;
  /** How far an incomplete sequence has been looked at. */
  #scanned = 0;
  #paste: string[] | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The character that a report of Kitty's protocol wrote. Some terminals then send it as text once more. */
  #reported: string | undefined;

  constructor(options: StdinBufferOptions = {}) {
    super();
    this.#timeoutMs = options.timeout ?? 50;
    this.#escapeTimeoutMs = options.escapeTimeout ?? 10;
    this.#isAnswerExpected = options.isAnswerExpected ?? (() => false);
  }

  process(data: string | Buffer): void {
    clearTimeout(this.#timer);
    if (data.length === 0 && this.#isEmpty) this.emit("data", "");
    this.#text = this.#text.slice(this.#index) + (typeof data === "string" ? data : this.#decoder.decode(data));
    this.#index = 0;
    this.#emitComplete();
    this.#schedule();
  }

  /** Takes out what is not complete, which is then not emitted. An open paste stays. */
  flush(): string[] {
    clearTimeout(this.#timer);
    if (this.#paste) return [];
    const rest = this.getBuffer() + this.#decoder.flush();
    this.#reset();
    return rest === "" ? [] : [rest];
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#decoder.flush();
    this.#paste = undefined;
    this.#reported = undefined;
    this.#reset();
  }

  /** Returns the input that is not complete. */
  getBuffer(): string {
    return this.#text.slice(this.#index);
  }

  destroy(): void {
    this.clear();
  }

  get #isEmpty(): boolean {
    return this.#index === this.#text.length && !this.#paste && this.#decoder.isEmpty;
  }

  #reset(): void {
    this.#text = "";
    this.#index = 0;
    this.#scanned = 0;
  }

  /** State is up to date before each event, so that a listener may clear the buffer, feed it, or throw. */
  #emitComplete(): void {
    while (this.#index < this.#text.length) {
      if (this.#paste) {
        const paste = this.#takePaste(this.#paste);
        if (paste === undefined) return;
        this.emit("paste", paste);
        continue;
      }
      const end = findSequenceEnd(this.#text, this.#index, this.#scanned);
      if (end === undefined) {
        this.#scanned = this.#text.length - this.#index;
        return;
      }
      const sequence = this.#text.slice(this.#index, end);
      this.#index = end;
      this.#scanned = 0;
      if (sequence === pasteStart) this.#paste = [];
      else this.#emitData(sequence);
    }
  }

  #takePaste(parts: string[]): string | undefined {
    const end = this.#text.indexOf(pasteEnd, this.#index);
    const until = end === -1 ? this.#text.length - getOverlap(this.#text, pasteEnd) : end;
    parts.push(this.#text.slice(this.#index, until));
    this.#index = until;
    if (end === -1) return undefined;
    this.#index += pasteEnd.length;
    this.#paste = undefined;
    this.#reported = undefined;
    return parts.join("");
  }

  #emitData(sequence: string): void {
    const isRepeated = sequence === this.#reported;
    const report = parseReport(sequence);
    this.#reported = report?.modifiers === 0 ? getReportedText(report) : undefined;
    if (!isRepeated) this.emit("data", sequence);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#isEmpty || this.#paste) return;
    this.#timer = setTimeout(() => {
      for (const sequence of this.flush()) this.#emitData(sequence);
    }, this.#getTimeoutMs());
  }

  #getTimeoutMs(): number {
    const rest = this.getBuffer();
    const isAnswer = isPartialAnswer(rest) || (/^\x1b\[?$/.test(rest) && this.#isAnswerExpected());
    if (isAnswer) return Math.max(answerTimeoutMs, this.#timeoutMs);
    return /^\x1b{1,2}$/.test(rest) ? this.#escapeTimeoutMs : this.#timeoutMs;
  }
}

/** How many characters at the end of the text may be the beginning of the mark. */
function getOverlap(text: string, mark: string): number {
  for (let length = Math.min(text.length, mark.length - 1); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}

/** Characters from pieces that end anywhere. A byte that cannot belong to UTF-8 is Alt with a character, as of old. */
class Utf8Decoder {
  #tail = Buffer.alloc(0);

  get isEmpty(): boolean {
    return this.#tail.length === 0;
  }

  decode(data: Buffer): string {
    const bytes = this.isEmpty ? data : Buffer.concat([this.#tail, data]);
    const [first = 0] = bytes;
    const isMeta = bytes.length === 1 && first > 0x7f && getLength(first) === 1;
    if (isMeta) return toMeta(first);
    const complete = bytes.length - countIncomplete(bytes);
    this.#tail = Buffer.from(bytes.subarray(complete));
    return bytes.toString("utf8", 0, complete);
  }

  flush(): string {
    const tail = this.#tail;
    this.#tail = Buffer.alloc(0);
    const [first = 0] = tail;
    return tail.length === 1 ? toMeta(first) : tail.toString("utf8");
  }
}

const toMeta = (byte: number): string => `\x1b${String.fromCharCode(byte - 0x80)}`;

/** How many bytes a character has that begins with this one; 1 if none does. */
function getLength(byte: number): number {
  if (byte >= 0xc2 && byte <= 0xdf) return 2;
  if (byte >= 0xe0 && byte <= 0xef) return 3;
  return byte >= 0xf0 && byte <= 0xf4 ? 4 : 1;
}

/** How many bytes at the end are the beginning of a character. */
function countIncomplete(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) !== 0x80) return getLength(byte) > back ? back : 0;
  }
  return 0;
}
