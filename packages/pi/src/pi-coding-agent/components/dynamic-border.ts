import type { Component } from "@tau/tui";
import { theme } from "../theme/theme.ts";

/** A line as wide as there is room. */
export class DynamicBorder implements Component {
  readonly #color: (text: string) => string;

  constructor(color: (text: string) => string = (text) => theme.fg("border", text)) {
    this.#color = color;
  }

  render(width: number): string[] {
    return [this.#color("─".repeat(Math.max(1, width)))];
  }

  invalidate(): void {}
}
