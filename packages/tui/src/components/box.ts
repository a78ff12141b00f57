import type { Component } from "../component.ts";
import { dispatchMouseEvent, type TuiMouseDispatchResult } from "../mouse-dispatch.ts";
import type { TuiMouseEvent } from "../mouse.ts";
import { padToWidth } from "../text/pad.ts";

type Background = (text: string) => string;

interface Rendered {
  width: number;
  margin: number;
  children: readonly Component[];
  parts: readonly string[][];
  /** The result of the background function for a sample, since a theme may change it without notice. */
  sample: string | undefined;
  lines: string[];
}

/** Components below each other, with padding around them and a background behind them. Without lines it draws nothing. */
export class Box implements Component {
  children: Component[] = [];
  readonly #paddingX: number;
  readonly #paddingY: number;
  #background: Background | undefined;
  #rendered: Rendered | undefined;

  constructor(paddingX = 1, paddingY = 1, bgFn?: Background) {
    this.#paddingX = paddingX;
    this.#paddingY = paddingY;
    this.#background = bgFn;
  }

  addChild(component: Component): void {
    this.children.push(component);
  }

  removeChild(component: Component): void {
    const index = this.children.indexOf(component);
    if (index !== -1) this.children.splice(index, 1);
  }

  clear(): void {
    this.children = [];
  }

  setBgFn(bgFn?: Background): void {
    this.#background = bgFn;
  }

  invalidate(): void {
    this.#rendered = undefined;
    for (const child of this.children) child.invalidate();
  }

  render(width: number): string[] {
    const margin = Math.max(0, Math.min(this.#paddingX, Math.floor((width - 1) / 2)));
    const parts = this.children.map((child) => child.render(Math.max(1, width - 2 * margin)));
    const sample = this.#background?.("x");
    const last = this.#rendered;
    const isSame =
      last?.width === width &&
      last.sample === sample &&
      last.parts.length === parts.length &&
      parts.every((part, index) => part === last.parts[index]);
    const lines = isSame ? last.lines : this.#draw(parts, width, margin);
    this.#rendered = { width, margin, children: [...this.children], parts, sample, lines };
    return lines;
  }

  handleMouse(event: TuiMouseEvent): TuiMouseDispatchResult | undefined {
    const last = this.#rendered;
    if (!last) return undefined;
    const width = last.width - 2 * last.margin;
    const x = event.x - last.margin;
    let y = event.y - this.#paddingY;
    if (x < 0 || x >= width || y < 0) return undefined;
    for (const [index, child] of last.children.entries()) {
      const height = last.parts[index]?.length ?? 0;
      if (y < height) return dispatchMouseEvent(child, { ...event, x, y, width, height });
      y -= height;
    }
    return undefined;
  }

  #draw(parts: readonly string[][], width: number, margin: number): string[] {
    const lines = parts.flat();
    if (lines.length === 0) return [];
    const background = this.#background ?? ((line: string) => line);
    const draw = (line: string) => background(padToWidth(" ".repeat(margin) + line, width));
    const blank = Array.from({ length: this.#paddingY }, () => draw(""));
    return [...blank, ...lines.map(draw), ...blank];
  }
}
