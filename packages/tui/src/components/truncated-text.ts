import type { Component } from "../component.ts";
import { expandTabs } from "../text/pad.ts";
import { truncateToWidth } from "../text/truncate.ts";

/** The first line of a text, cut to the width. Styles in the text are kept. */
export class TruncatedText implements Component {
  readonly #line: string;
  readonly #paddingX: number;
  readonly #paddingY: number;
  #rendered: { width: number; lines: string[] } | undefined;

  constructor(text: string, paddingX = 0, paddingY = 0) {
    this.#line = expandTabs(text.split(/[\r\n]/, 1)[0] as string);
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
  }

  invalidate(): void {
    this.#rendered = undefined;
  }

  render(width: number): string[] {
    if (this.#rendered?.width !== width) this.#rendered = { width, lines: this.#draw(width) };
    return this.#rendered.lines;
  }

  #draw(width: number): string[] {
    const paddingX = Math.max(0, Math.min(this.#paddingX, Math.floor((width - 1) / 2)));
    const margin = " ".repeat(paddingX);
    const line = margin + truncateToWidth(this.#line, Math.max(0, width - 2 * paddingX), "...", true) + margin;
    const blank = Array.from({ length: this.#paddingY }, () => " ".repeat(width));
    return [...blank, line, ...blank];
  }
}
