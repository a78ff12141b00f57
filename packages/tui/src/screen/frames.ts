/** When frames are drawn: soon after they are asked for, and never more often than people can see. */

/** In milliseconds. */
export const minFrameInterval = 16;

export class Frames {
  readonly #draw: () => void;
  #scheduled: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #lastAt = -Infinity;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  request(): void {
    if (this.#scheduled !== undefined) return;
    const waitMs = this.#lastAt + minFrameInterval - performance.now();
    // All changes of this turn of the event loop belong to one frame.
    this.#scheduled = waitMs > 0 ? setTimeout(() => this.drawNow(), waitMs) : setImmediate(() => this.drawNow());
  }

  drawNow(): void {
    this.cancel();
    this.#lastAt = performance.now();
    this.#draw();
  }

  cancel(): void {
    clearTimeout(this.#scheduled as NodeJS.Timeout | undefined);
    clearImmediate(this.#scheduled as NodeJS.Immediate | undefined);
    this.#scheduled = undefined;
  }
}
