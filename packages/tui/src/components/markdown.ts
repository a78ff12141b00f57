import type { Token } from "marked";
import type { Component } from "../component.ts";
import { visibleWidth } from "../text/cells.ts";
import { padToWidth } from "../text/pad.ts";
import { truncateToWidth } from "../text/truncate.ts";
import { MarkdownDrawing } from "./markdown/draw.ts";
import { MarkdownStream } from "./markdown/stream.ts";
import {
  type DefaultTextStyle,
  type Look,
  type MarkdownOptions,
  type MarkdownTheme,
  toTextStyle,
} from "./markdown/theme.ts";

export type { DefaultTextStyle, MarkdownOptions, MarkdownTheme } from "./markdown/theme.ts";

/** What is drawn for one width. */
interface Drawn {
  width: number;
  stream: MarkdownStream;
  drawing: MarkdownDrawing;
  /** Of everything that is complete, padded. */
  complete: string[];
  /** The last complete token, whose gap depends on what follows. */
  last: Token | undefined;
  /** Of the open part, by what they were before they were padded: most are the same the next time. */
  padded: Map<string, string>;
  lines: string[] | undefined;
}

/**
 * Markdown. Text that is appended is cheap: only the open block is read and drawn again, and of a list, a table or a fence
 * only the open item, row or line. Control characters of the source are dropped.
 */
export class Markdown implements Component {
  #text: string;
  readonly #paddingX: number;
  readonly #paddingY: number;
  readonly #background: ((text: string) => string) | undefined;
  readonly #look: Look;
  #drawn: Drawn | undefined;

  constructor(
    text: string,
    paddingX: number,
    paddingY: number,
    theme: MarkdownTheme,
    defaultTextStyle?: DefaultTextStyle,
    options: MarkdownOptions = {},
  ) {
    this.#text = text;
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
    this.#background = defaultTextStyle?.bgColor;
    this.#look = { theme, options, text: toTextStyle(theme, defaultTextStyle) };
  }

  /** Text that begins with the text before is taken as appended. */
  setText(text: string): void {
    if (text.startsWith(this.#text)) this.append(text.slice(this.#text.length));
    else {
      this.#text = text;
      this.#drawn = undefined;
    }
  }

  /** As `setText` with the whole text, without a look at all of it. */
  append(text: string): void {
    if (text === "") return;
    this.#text += text;
    if (this.#look.options.transform) this.#drawn = undefined;
    if (!this.#drawn) return;
    this.#drawn.stream.append(text);
    this.#drawn.lines = undefined;
  }

  invalidate(): void {
    this.#drawn = undefined;
  }

  render(width: number): string[] {
    if (this.#drawn?.width !== width) this.#drawn = this.#begin(width);
    this.#drawn.lines ??= this.#draw(this.#drawn);
    return this.#drawn.lines;
  }

  #margin(width: number): number {
    return Math.max(0, Math.min(this.#paddingX, Math.floor((width - 1) / 2)));
  }

  #begin(width: number): Drawn {
    const room = Math.max(1, width - 2 * this.#margin(width));
    const stream = new MarkdownStream();
    stream.append(this.#look.options.transform?.(this.#text, room) ?? this.#text);
    const drawing = new MarkdownDrawing(this.#look, room);
    return { width, stream, drawing, complete: [], last: undefined, padded: new Map(), lines: undefined };
  }

  #draw(drawn: Drawn): string[] {
    const { width, drawing, stream } = drawn;
    const update = stream.update();
    if (update.isReset) {
      drawn.complete = [];
      drawn.last = undefined;
    }
    // The last token is drawn with what follows, since the gap between them depends on both.
    const tokens = [...(drawn.last ? [drawn.last] : []), ...update.complete];
    drawn.last = tokens.at(-1);
    for (const line of drawing.drawBlocks(tokens.slice(0, -1), drawn.last)) drawn.complete.push(this.#pad(line, width));
    const open = drawing.drawBlocks([...(drawn.last ? [drawn.last] : []), ...update.open]);
    const padded = new Map(open.map((line) => [line, drawn.padded.get(line) ?? this.#pad(line, width)]));
    drawn.padded = padded;
    const lines = drawn.complete.concat(open.map((line) => padded.get(line) as string));
    if (lines.length === 0 || this.#text.trim() === "") return [];
    const blank = Array.from({ length: this.#paddingY }, () => this.#pad("", width));
    return this.#paddingY === 0 ? lines : [...blank, ...lines, ...blank];
  }

  #pad(line: string, width: number): string {
    const margin = " ".repeat(this.#margin(width));
    const room = width - 2 * margin.length;
    const lineWidth = visibleWidth(line);
    // Borders and bullets may need more room than there is.
    const padded =
      lineWidth > room
        ? padToWidth(margin + truncateToWidth(line, room, ""), width)
        : `${margin}${line}${" ".repeat(width - margin.length - lineWidth)}`;
    return this.#background ? this.#background(padded) : padded;
  }
}
