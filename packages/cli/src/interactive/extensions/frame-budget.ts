/** Decides whether something that an extension draws is asked for another frame: everything waits while it draws. */

/** Processor time that a frame may take. */
const maxFrameMs = 200;
/** Slow frames in a row that pause it. The first frame may load what it needs, so it never counts. */
const maxSlowFrames = 3;
/** Time after which it is asked again. */
const pauseMs = 5_000;

export interface FrameClocks {
  /** Milliseconds of processor time that this thread has used. */
  getCpuMs(): number;
  /** Milliseconds, which only increase. */
  now(): number;
}

export const systemClocks: FrameClocks = { getCpuMs, now: () => performance.now() };

export class FrameBudget {
  readonly #clocks: FrameClocks;
  #isFirst = true;
  #slowFrames = 0;
  #pausedUntil = -Infinity;
  #preparedMs = 0;

  constructor(clocks: FrameClocks = systemClocks) {
    this.#clocks = clocks;
  }

  get isPaused(): boolean {
    return this.#clocks.now() < this.#pausedUntil;
  }

  /** Does what belongs to the next frame. */
  prepare<T>(work: () => T): T {
    const { result, elapsedMs } = this.#measure(work);
    this.#preparedMs += elapsedMs;
    return result;
  }

  /** Draws a frame. A quick one ends what slow ones before it have added up to. */
  draw<T>(work: () => T): T {
    const { result, elapsedMs } = this.#measure(work);
    const isSlow = this.#preparedMs + elapsedMs > maxFrameMs;
    this.#slowFrames = isSlow && !this.#isFirst ? this.#slowFrames + 1 : 0;
    if (this.#slowFrames >= maxSlowFrames) this.#pausedUntil = this.#clocks.now() + pauseMs;
    this.#isFirst = false;
    this.#preparedMs = 0;
    return result;
  }

  #measure<T>(work: () => T): { result: T; elapsedMs: number } {
    const { getCpuMs, now } = this.#clocks;
    const startCpuMs = getCpuMs();
    const start = now();
    const result = work();
    // Before Node 24 the time of all threads is measured, which can be more than has passed.
    return { result, elapsedMs: Math.min(getCpuMs() - startCpuMs, now() - start) };
  }
}

export const describePause = (name: string): string =>
  `${name} is paused: its last ${maxSlowFrames} frames took more than ${maxFrameMs} ms of processor time each. ` +
  `It is drawn again after ${pauseMs / 1_000} seconds if it is quicker then.`;

function getCpuMs(): number {
  const usage = (process as { threadCpuUsage?: () => NodeJS.CpuUsage }).threadCpuUsage ?? process.cpuUsage;
  const { user, system } = usage.call(process);
  return (user + system) / 1_000;
}
