/** Asks the terminal for its colors and the size of its cells. Answers come as input. */
import {
  parseOsc11BackgroundColor,
  parseTerminalColorSchemeReport,
  type RgbColor,
  type TerminalColorScheme,
} from "../terminal/colors.ts";

import { setCellDimensions } from "../terminal/images.ts";

type SchemeListener = (scheme: TerminalColorScheme) => void;

export class TerminalQueries {
  readonly #write: (data: string) => void;
  readonly #backgrounds = new Set<(color: RgbColor | undefined) => void>();
  /** How many answers about the background may still come, after nobody waits for them any more. */
  #lateBackgrounds = 0;
  readonly #schemes = new Set<(scheme: TerminalColorScheme | undefined) => void>();
  readonly #listeners = new Set<SchemeListener>();
  readonly #onCellSize: () => void;

  constructor(write: (data: string) => void, onCellSize: () => void) {
    this.#write = write;
    this.#onCellSize = onCellSize;
  }

  queryBackground(timeoutMs: number): Promise<RgbColor | undefined> {
    return this.#ask("\x1b]11;?\x07", this.#backgrounds, timeoutMs, () => void this.#lateBackgrounds++);
  }

  queryScheme(timeoutMs: number): Promise<TerminalColorScheme | undefined> {
    return this.#ask("\x1b[?996n", this.#schemes, timeoutMs);
  }

  /** How large a cell is in pixels: images are scaled by it. */
  queryCellSize(): void {
    this.#write("\x1b[16t");
  }

  /** Returns a function that removes it. */
  addSchemeListener(listener: SchemeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether the input is taken: a report of the scheme always, any other answer if somebody here waits for it. */
  takeAnswer(data: string): boolean {
    if (data.startsWith("\x1b[6;")) return this.#takeCellSize(data);
    if (!data.startsWith("\x1b]11;") && !data.startsWith("\x1b[?997;")) return false;
    const scheme = parseTerminalColorSchemeReport(data);
    if (scheme) {
      for (const answer of this.#schemes) answer(scheme);
      for (const listener of this.#listeners) listener(scheme);
      return true;
    }
    if (this.#backgrounds.size === 0) {
      if (this.#lateBackgrounds === 0) return false;
      this.#lateBackgrounds--;
      return true;
    }
    const color = parseOsc11BackgroundColor(data);
    for (const answer of this.#backgrounds) answer(color);
    return true;
  }

  #takeCellSize(data: string): boolean {
    const match = /^\x1b\[6;(\d{1,4});(\d{1,4})t$/.exec(data);
    if (!match) return false;
    const [heightPx, widthPx] = [Number(match[1]), Number(match[2])];
    if (heightPx === 0 || widthPx === 0) return true;
    setCellDimensions({ widthPx, heightPx });
    this.#onCellSize();
    return true;
  }

  /** Asks once for all who ask at the time. `onUnanswered` is called when the last of them gives up. */
  #ask<Value>(
    question: string,
    waiting: Set<(value: Value | undefined) => void>,
    timeoutMs: number,
    onUnanswered: () => void = () => {},
  ) {
    return new Promise<Value | undefined>((resolve) => {
      const answer = (value: Value | undefined) => {
        clearTimeout(timer);
        waiting.delete(answer);
        resolve(value);
      };
      const timer = setTimeout(() => {
        answer(undefined);
        if (waiting.size === 0) onUnanswered();
      }, timeoutMs);
      if (waiting.size === 0) this.#write(question);
      waiting.add(answer);
    });
  }
}
