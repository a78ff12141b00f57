/** When frames are drawn: soon after they are asked for, and never more often than people can see. */

/** In milliseconds, for what follows a key, and for single changes. */
const minInterval = 16;
/** For changes that keep coming, such as text that arrives: nobody reads faster. */
const calmInterval = 33;

export class Frames {
  readonly #draw: () => void;
  #scheduled: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #lastAt = -Infinity;
  /** Whether the user does something, and waits for what it does. */
  #isUrgent = false;
  /** Whether the last frame was asked for soon after the one before it. */
  #wasSoon = false;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  request(): void {
    if (this.#scheduled !== undefined) return;
    const elapsedMs = performance.now() - this.#lastAt;
    const isSoon = elapsedMs < minInterval;
    const isCalm = isSoon && this.#wasSoon && !this.#isUrgent;
    this.#wasSoon = isSoon;
    const waitMs = (isCalm ? calmInterval : minInterval) - elapsedMs;
    // All changes of this turn of the event loop belong to one frame.
    this.#scheduled = waitMs > 0 ? setTimeout(() => this.drawNow(), waitMs) : setImmediate(() => this.drawNow());
  }

  /** The next frame shows what a key did. */
  hurry(): void {
    this.#isUrgent = true;
    if (this.#scheduled === undefined) return;
    this.cancel();
    this.request();
  }

  drawNow(): void {
    this.cancel();
    this.#isUrgent = false;
    this.#lastAt = performance.now();
    this.#draw();
  }

  cancel(): void {
    clearTimeout(this.#scheduled as NodeJS.Timeout | undefined);
    clearImmediate(this.#scheduled as NodeJS.Immediate | undefined);
    this.#scheduled = undefined;
  }
}
