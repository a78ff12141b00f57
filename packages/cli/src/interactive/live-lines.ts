import type { Component } from "@tau/tui";

/** Lines that are computed for each frame. The same array comes back while they are the same. */
export class LiveLines implements Component {
  readonly isEphemeral = true;
  readonly #draw: (width: number) => readonly string[];
  #last: string[] = [];

  constructor(draw: (width: number) => readonly string[]) {
    this.#draw = draw;
  }

  render(width: number): string[] {
    const lines = this.#draw(width);
    const isSame = lines.length === this.#last.length && lines.every((line, index) => line === this.#last[index]);
    if (!isSame) this.#last = [...lines];
    return this.#last;
  }

  invalidate(): void {}
}
