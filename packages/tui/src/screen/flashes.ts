/** Messages that go away by themselves, in the upper right corner of a screen. */
import type { ImageLayer } from "../image-layer.ts";
import { toPlainLine } from "../text/plain.ts";
import { visibleWidth } from "../text/cells.ts";
import { truncateToWidth } from "../text/truncate.ts";
import { compositeTuiLine } from "./composite.ts";

export class Flashes {
  readonly #requestRender: () => void;
  readonly #shown = new Map<NodeJS.Timeout, string>();

  constructor(requestRender: () => void) {
    this.#requestRender = requestRender;
  }

  show(message: string, durationMs: number): void {
    const timer = setTimeout(() => {
      this.#shown.delete(timer);
      this.#requestRender();
    }, durationMs);
    timer.unref();
    this.#shown.set(timer, toPlainLine(message));
    this.#requestRender();
  }

  clear(): void {
    for (const timer of this.#shown.keys()) clearTimeout(timer);
    this.#shown.clear();
  }

  composite(lines: string[], columns: number, images: ImageLayer): void {
    for (const [row, message] of [...this.#shown.values()].slice(0, lines.length).entries()) {
      const text = truncateToWidth(` ${message} `, columns, "…");
      const width = visibleWidth(text);
      lines[row] = compositeTuiLine(lines[row] as string, `\x1b[7m${text}`, columns - width, width, columns);
      images.cover({ x: columns - width, y: row, width, height: 1 });
    }
  }
}
