/** When frames are drawn: soon after they are asked for, and never more often than people can see. */

/** In milliseconds, from the start of a frame: for what follows a key, and for single changes. */
const minInterval = 16;
/** From the end of a frame, for changes that keep coming, such as text that arrives: nobody reads faster. */
const calmInterval = 66;
/** Frames that take long are drawn less often, so that drawing does not hold up what is drawn. */
const restPerDrawnMs = 3;
const maxCalmInterval = 200;
/** After a key the user waits for what it does, which may take more than one frame. */
const keyMs = 100;
/** When more frames than this follow each other closely, they are no single changes. */
const maxSingleFrames = 10;

export class Frames {
  readonly #draw: () => void;
  #scheduled: NodeJS.Timeout | NodeJS.Immediate | undefined;
  /** The last frame. */
  #last = { startedAt: -Infinity, endedAt: -Infinity };
  #keyAt = -Infinity;
  /** No frame is drawn before, unless it is drawn with `drawNow`. */
  #heldUntil = -Infinity;
  /** A frame comes in the next tick. */
  #isDue = false;
  /** Whether the last frame was asked for right after the one before it. */
  #wasSoon = false;
  /** How many frames in a row were asked for shortly after the one before them. */
  #streak = 0;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  request(): void {
    if (this.#scheduled === undefined && !this.#isDue) this.#schedule(this.#getWaitMs(performance.now()));
  }

  /** The next frame comes this much later at the earliest. A later call replaces the time. */
  hold(ms: number): void {
    this.#heldUntil = performance.now() + ms;
    if (this.#scheduled === undefined && !this.#isDue) return;
    this.cancel();
    this.#schedule(0);
  }

  /** Draws as soon as what runs now has ended, however short ago the last frame is. */
  requestNext(): void {
    this.cancel();
    if (this.#heldUntil > performance.now()) return this.#schedule(0);
    this.#isDue = true;
    process.nextTick(() => {
      if (this.#isDue) this.drawNow();
    });
  }

  /** The next frames show what a key did. */
  hurry(): void {
    this.#keyAt = performance.now();
    if (this.#scheduled === undefined) return;
    this.cancel();
    this.#schedule(minInterval - (this.#keyAt - this.#last.startedAt));
  }

  drawNow(): void {
    this.cancel();
    const startedAt = performance.now();
    // For a request while this one is drawn, the interval begins at its start.
    this.#last = { startedAt, endedAt: startedAt };
    this.#draw();
    this.#last.endedAt = performance.now();
  }

  cancel(): void {
    clearTimeout(this.#scheduled as NodeJS.Timeout | undefined);
    clearImmediate(this.#scheduled as NodeJS.Immediate | undefined);
    this.#scheduled = undefined;
    this.#isDue = false;
  }

  #schedule(wantedMs: number): void {
    const waitMs = Math.max(wantedMs, this.#heldUntil - performance.now());
    // All changes of this turn of the event loop belong to one frame.
    this.#scheduled = waitMs > 0 ? setTimeout(() => this.drawNow(), waitMs) : setImmediate(() => this.drawNow());
  }

  #getWaitMs(now: number): number {
    const { startedAt, endedAt } = this.#last;
    const restMs = now - endedAt;
    const calmMs = Math.min(maxCalmInterval, Math.max(calmInterval, restPerDrawnMs * (endedAt - startedAt)));
    const isSoon = restMs < minInterval;
    const isSingle = this.#streak < maxSingleFrames && !(isSoon && this.#wasSoon);
    this.#wasSoon = isSoon;
    this.#streak = restMs < calmMs ? this.#streak + 1 : 0;
    return isSingle || now - this.#keyAt < keyMs ? minInterval - (now - startedAt) : calmMs - restMs;
  }
}
