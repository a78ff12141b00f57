import type { Component } from "../component.ts";
import { expandTabs, padToWidth } from "../text/pad.ts";
import { wrapTextWithAnsi } from "../text/wrap.ts";

/** Text of any number of lines, broken at words. Text without visible characters has no lines. */
export class Text implements Component {
  #text: string;
  readonly #paddingX: number;
  readonly #paddingY: number;
  #background: ((text: string) => string) | undefined;
  #rendered: { width: number; lines: string[] } | undefined;

  constructor(text = "", paddingX = 1, paddingY = 1, customBgFn?: (text: string) => string) {
    this.#text = text;
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
    this.#background = customBgFn;
  }

  setText(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.invalidate();
  }

  setCustomBgFn(customBgFn?: (text: string) => string): void {
    this.#background = customBgFn;
    this.invalidate();
  }

  invalidate(): void {
    this.#rendered = undefined;
  }

  render(width: number): string[] {
    if (this.#rendered?.width !== width) this.#rendered = { width, lines: this.#draw(width) };
    return this.#rendered.lines;
  }

  #draw(width: number): string[] {
    if (this.#text.trim() === "") return [];
    const background = this.#background ?? ((line: string) => line);
    const paddingX = Math.max(0, Math.min(this.#paddingX, Math.floor((width - 1) / 2)));
    const margin = " ".repeat(paddingX);
    const draw = (line: string) => background(padToWidth(margin + line + margin, width));
    const lines = wrapTextWithAnsi(expandTabs(this.#text), Math.max(1, width - 2 * paddingX));
    const blank = Array.from({ length: this.#paddingY }, () => draw(""));
    return [...blank, ...lines.map(draw), ...blank];
  }
}
