import type { Component } from "../component.ts";

/** Empty lines. */
export class Spacer implements Component {
  #lines: string[];

  constructor(lines = 1) {
    this.#lines = Array.from({ length: lines }, () => "");
  }

  setLines(lines: number): void {
    if (lines !== this.#lines.length) this.#lines = Array.from({ length: lines }, () => "");
  }

  invalidate(): void {}

  render(_width: number): string[] {
    return this.#lines;
  }
}
