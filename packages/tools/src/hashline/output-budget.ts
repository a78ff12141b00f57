/** Keeps everything that a tool returns or throws, all parts together, within the common limits. Pure. */
import { countBreaks, defaultMaxBytes, defaultMaxLines } from "../truncate.ts";

/** The lines and bytes that are left. */
export class OutputBudget {
  #lines: number;
  #bytes: number;

  constructor(lines = defaultMaxLines, bytes = defaultMaxBytes) {
    this.#lines = lines;
    this.#bytes = bytes;
  }

  /** Uses up what a text and a line break after it need. False, and nothing is used, when that is more than is left. */
  take(text: string): boolean {
    const lines = countBreaks(text) + 1;
    const bytes = Buffer.byteLength(text) + 1;
    if (lines > this.#lines || bytes > this.#bytes) return false;
    this.#lines -= lines;
    this.#bytes -= bytes;
    return true;
  }

  /** A separate budget of what is left, divided by `count`. Using it does not use up this one. */
  part(count: number): OutputBudget {
    return new OutputBudget(Math.floor(this.#lines / count), Math.floor(this.#bytes / count));
  }

  /** Returns a part of this budget, of at most `bytes`. */
  upTo(bytes: number): OutputBudget {
    return new OutputBudget(this.#lines, Math.min(this.#bytes, bytes));
  }

  /** Whether less is left than a short line needs. */
  get isFull(): boolean {
    return this.#lines < 1 || this.#bytes < 20;
  }
}

/** At most `max` texts, and a text of `others` about those that are left out. */
export function getFirst(texts: readonly string[], max: number, others: (count: number) => string): string[] {
  return texts.length <= max ? [...texts] : [...texts.slice(0, max), others(texts.length - max)];
}

/** With more parts, each would be too small to be useful. */
const maxParts = 10;

/** Joins texts, each made for an equal part of the budget. Those that do not fit are counted in a text of `others`. */
export function shareBudget(
  makers: readonly ((budget: OutputBudget) => string)[],
  others: (count: number) => string,
): string {
  // The rest is for the text about the others.
  const budget = new OutputBudget(defaultMaxLines - 10, defaultMaxBytes - 1024);
  const texts: string[] = [];
  for (const [index, make] of makers.slice(0, maxParts).entries()) {
    const text = make(budget.part(Math.min(makers.length, maxParts) - index));
    if (!budget.take(`${text}\n`)) break;
    texts.push(text);
  }
  const left = makers.length - texts.length;
  return (left === 0 ? texts : [...texts, others(left)]).join("\n\n");
}
