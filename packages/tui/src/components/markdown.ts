import type { WindowedComponent } from "../line-source.ts";
import { visibleWidth } from "../text/cells.ts";
import { padToWidth } from "../text/pad.ts";
import { truncateToWidth } from "../text/truncate.ts";
import { MarkdownLines } from "./markdown/lines.ts";
import { MarkdownStream } from "./markdown/stream.ts";
import {
  type DefaultTextStyle,
  type Look,
  type MarkdownOptions,
  type MarkdownTheme,
  toTextStyle,
} from "./markdown/theme.ts";

export type { DefaultTextStyle, MarkdownOptions, MarkdownTheme } from "./markdown/theme.ts";

/**
 * Markdown. Text that is appended is cheap: only the open block is read and drawn again, and of a list, a table or a fence
 * only the open item, row or line. Control characters of the source are dropped.
 */
export class Markdown implements WindowedComponent {
  #text: string;
  #isBlank: boolean;
  #paddingX: number;
  readonly #paddingY: number;
  readonly #background: ((text: string) => string) | undefined;
  readonly #look: Look;
  #stream: MarkdownStream | undefined;
  #drawn: { width: number; lines: MarkdownLines; all: string[] | undefined } | undefined;
  /** Whether more text follows, so that its last lines may still change. Default false. */
  isStreaming = false;

  constructor(
    text: string,
    paddingX: number,
    paddingY: number,
    theme: MarkdownTheme,
    defaultTextStyle?: DefaultTextStyle,
    options: MarkdownOptions = {},
  ) {
    this.#text = text;
    this.#isBlank = text.trim() === "";
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
    this.#background = defaultTextStyle?.bgColor;
    this.#look = { theme, options, text: toTextStyle(theme, defaultTextStyle) };
  }

  /** Text that begins with the text before is taken as appended. */
  setText(text: string): void {
    if (text.startsWith(this.#text)) return this.#add(text.slice(this.#text.length), text);
    this.#text = text;
    this.#isBlank = text.trim() === "";
    this.#forgetText();
  }

  /** Does what `setText` with the whole text would, without a look at all of it. */
  append(text: string): void {
    this.#add(text, this.#text + text);
  }

  /** Blank columns on both sides. */
  setPaddingX(paddingX: number): void {
    this.#paddingX = paddingX;
    this.#drawn = undefined;
  }

  invalidate(): void {
    this.#drawn = undefined;
  }

  render(width: number): string[] {
    const drawn = this.#draw(width);
    drawn.all ??= this.renderLines(width, 0, Infinity);
    return drawn.all;
  }

  countLines(width: number): number {
    const { count } = this.#draw(width).lines;
    return count === 0 || this.#isBlank ? 0 : count + 2 * this.#paddingY;
  }

  countFinished(width: number): number {
    if (!this.isStreaming) return this.countLines(width);
    return Math.min(this.#paddingY + this.#draw(width).lines.finished, this.countLines(width));
  }

  renderLines(width: number, start: number, end: number): string[] {
    const count = this.countLines(width);
    if (count === 0) return [];
    const { lines } = this.#draw(width);
    const padding = this.#paddingY;
    if (padding === 0) return lines.slice(start, Math.min(end, count));
    const blank = Array.from({ length: padding }, () => this.#pad("", width));
    return [...blank, ...lines.slice(0, count), ...blank].slice(start, end);
  }

  #add(added: string, whole: string): void {
    if (added === "") return;
    this.#text = whole;
    this.#isBlank &&= added.trim() === "";
    if (this.#look.options.transform) return this.#forgetText();
    this.#stream?.append(added);
    if (!this.#drawn) return;
    this.#drawn.lines.invalidate();
    this.#drawn.all = undefined;
  }

  #forgetText(): void {
    this.#stream = undefined;
    this.#drawn = undefined;
  }

  #margin(width: number): number {
    return Math.max(0, Math.min(this.#paddingX, Math.floor((width - 1) / 2)));
  }

  #draw(width: number) {
    if (this.#drawn?.width === width) return this.#drawn;
    const room = Math.max(1, width - 2 * this.#margin(width));
    const stream = this.#lex(room);
    const lines = new MarkdownLines({ stream, look: this.#look, width: room, pad: (line) => this.#pad(line, width) });
    return (this.#drawn = { width, lines, all: undefined });
  }

  #lex(room: number): MarkdownStream {
    const { transform } = this.#look.options;
    if (this.#stream && !transform) return this.#stream;
    this.#stream = new MarkdownStream();
    this.#stream.append(transform?.(this.#text, room) ?? this.#text);
    return this.#stream;
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
