/** The lines of Markdown that arrives in pieces, for one width. What is complete is drawn once. */
import type { Token } from "@tau/markdown";
import { isFence, MarkdownDrawing, needsGap } from "./draw.ts";
import type { FenceToken, MarkdownStream } from "./stream.ts";
import type { Look } from "./theme.ts";

interface MarkdownLinesOptions {
  /** The text that is drawn, from its beginning. The lexed text outlives the lines, which belong to one width. */
  stream: MarkdownStream;
  look: Look;
  /** The width of the text, without what `pad` adds. */
  width: number;
  /** Makes a line ready to be shown. */
  pad: (line: string) => string;
}

export class MarkdownLines {
  readonly #options: MarkdownLinesOptions;
  #drawing: MarkdownDrawing;
  /** Lines that stay as they are, unless a definition of a link changes them. */
  #complete: string[] = [];
  /** The token that drew the last of them. */
  #last: Token | undefined;
  #open: string[] = [];
  /** The padded lines of the open part, by what they were before: most are the same the next time. */
  #padded = new Map<string, string>();
  #isOutdated = true;

  constructor(options: MarkdownLinesOptions) {
    this.#options = options;
    this.#drawing = new MarkdownDrawing(options.look, options.width);
    options.stream.reportAll();
  }

  /** To be called when text was appended to the stream. */
  invalidate(): void {
    this.#isOutdated = true;
  }

  get count(): number {
    this.#update();
    return this.#complete.length + this.#open.length;
  }

  /** How many lines, from the first, more text leaves as they are. */
  get finished(): number {
    this.#update();
    return this.#complete.length;
  }

  /** From `start` up to, not including, `end`. */
  slice(start: number, end: number): string[] {
    this.#update();
    const { length } = this.#complete;
    if (end <= length) return this.#complete.slice(start, end);
    if (start >= length) return this.#open.slice(start - length, end - length);
    return this.#complete.slice(start).concat(this.#open.slice(0, end - length));
  }

  /** How much was lexed and drawn so far, not taken from memory. */
  get work(): number {
    return this.#options.stream.lexedCharacters + this.#drawing.drawnParts;
  }

  #update(): void {
    if (!this.#isOutdated) return;
    this.#isOutdated = false;
    const { isReset, complete, open } = this.#options.stream.update();
    if (isReset) this.#reset();
    for (const token of complete) this.#addComplete(token);
    const [first] = open;
    // The lines of a fence are complete before the fence is.
    const lines = isFence(first) ? this.#addCode(first, false) : this.#drawing.drawBlocks(open, this.#last);
    const { pad } = this.#options;
    const padded = new Map(lines.map((line) => [line, this.#padded.get(line) ?? pad(line)]));
    this.#padded = padded;
    this.#open = lines.map((line) => padded.get(line) as string);
  }

  #reset(): void {
    this.#drawing = new MarkdownDrawing(this.#options.look, this.#options.width);
    this.#complete = [];
    this.#last = undefined;
  }

  #addComplete(token: Token): void {
    const lines = isFence(token) ? this.#addCode(token, true) : this.#drawing.drawBlocks([token], this.#last);
    this.#last = token;
    this.#push(lines);
  }

  /** Returns the lines that may still change. A fence is complete once it is closed. */
  #addCode(token: FenceToken, isComplete: boolean): string[] {
    const hasBegun = isFence(this.#last) && this.#last.lines === token.lines;
    if (!hasBegun && needsGap(this.#last, token)) this.#push([""]);
    this.#last = token;
    const { finished, open } = this.#drawing.drawFence(token, isComplete);
    this.#push(finished);
    return open;
  }

  #push(lines: readonly string[]): void {
    for (const line of lines) this.#complete.push(this.#options.pad(line));
  }
}
