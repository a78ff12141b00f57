/** The output of a cell: a part is shown while it runs, the end is for the model, and the rest is kept in a file. */
import type { Clock } from "@tau/ai";
import { createSafeText } from "@tau/tools";

const maxShownBytes = 50 * 1024;
const maxShownLines = 2_000;
/** Beyond this only the end is kept. */
const maxKeptLength = 8 * 1024 * 1024;
const updateMs = 100;
const maxUpdateLength = 16 * 1024;

export interface ShownOutput {
  text: string;
  /** All that was kept, if it is more than `text`. */
  rest?: string;
  totalLines: number;
  shownLines: number;
  /** Characters of the output that were not kept anywhere. */
  lostLength: number;
}

export class CellOutput {
  readonly #safe = createSafeText();
  readonly #clock: Clock;
  readonly #onText: ((text: string) => void) | undefined;
  #head = "";
  #tail = "";
  #lostLength = 0;
  #lineBreaks = 0;
  #waiting = "";
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, onText?: (text: string) => void) {
    this.#clock = clock;
    this.#onText = onText;
  }

  push(chunk: Buffer): void {
    this.#add(this.#safe.push(chunk).toString("utf8"));
  }

  #add(text: string): void {
    if (text === "") return;
    for (let index = text.indexOf("\n"); index >= 0; index = text.indexOf("\n", index + 1)) this.#lineBreaks++;
    const space = maxKeptLength - this.#head.length;
    if (space > 0) this.#head += text.slice(0, space);
    const over = text.slice(Math.max(0, space));
    if (over !== "") {
      this.#tail += over;
      const excess = this.#tail.length - maxShownBytes;
      if (excess > maxShownBytes) {
        this.#tail = this.#tail.slice(excess);
        this.#lostLength += excess;
      }
    }
    if (!this.#onText) return;
    this.#waiting = (this.#waiting + text).slice(-maxUpdateLength);
    this.#cancelTimer ??= this.#clock.setTimer(updateMs, () => this.#flush());
  }

  #flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#waiting !== "") this.#onText?.(this.#waiting);
    this.#waiting = "";
  }

  /** Ends the updates. */
  finish(): ShownOutput {
    this.#add(this.#safe.end().toString("utf8"));
    this.#flush();
    const gap = this.#lostLength > 0 ? `\n[${this.#lostLength} characters were not kept.]\n` : "";
    const kept = this.#head + gap + this.#tail;
    const whole = kept.endsWith("\n") ? kept.slice(0, -1) : kept;
    const totalLines = whole === "" ? 0 : this.#lineBreaks + (kept.endsWith("\n") ? 0 : 1);
    const lines = whole
      .slice(-2 * maxShownBytes)
      .split("\n")
      .slice(-maxShownLines);
    let bytes = 0;
    let first = lines.length;
    while (first > 0 && bytes + Buffer.byteLength(lines[first - 1]!) + 1 <= maxShownBytes)
      bytes += Buffer.byteLength(lines[--first]!) + 1;
    const text = first < lines.length ? lines.slice(first).join("\n") : cutStart(lines.at(-1) ?? "");
    const isWhole = text.length === whole.length;
    return {
      text,
      ...(!isWhole && { rest: kept }),
      totalLines,
      shownLines: isWhole ? totalLines : Math.max(1, lines.length - first),
      lostLength: this.#lostLength,
    };
  }
}

/** The end of a line that is too long alone, from a whole character on. */
const cutStart = (line: string): string => line.slice(-Math.floor(maxShownBytes / 3)).replace(/^[\udc00-\udfff]/, "");
