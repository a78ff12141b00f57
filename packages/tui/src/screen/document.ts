/** Which lines of a tree of components are in the scrollback of the terminal, and which may still change. */
import type { Component } from "../component.ts";
import { getLineSource, type LineSource } from "../line-source.ts";
import { leavesFromEnd } from "./leaves.ts";
import { countLinesWithText, countText } from "./same-text.ts";

/** A component that draws lines itself. */
interface Leaf {
  /** Its lines in the last frame in which it was asked. */
  lines: LineSource;
  /** For which width. */
  width: number;
  /** How many of them are in the scrollback. */
  saved: number;
  /** How many of them will not change any more. */
  finished: number;
  isEphemeral: boolean;
}

/** A line that is on the screen, or has to pass over it. */
export interface OpenLine {
  readonly text: string;
  readonly leaf: Leaf;
  /** Whether it has to be printed before it leaves the screen: it is finished, and not in the scrollback yet. */
  readonly mustPrint: boolean;
}

export interface RenderOptions {
  width: number;
  height: number;
  /** Whether no frame follows, so that everything is finished as it is. */
  isLast: boolean;
}

/** A row that left the screen. */
interface ScrolledOut {
  /** Undefined if the terminal pushed it out while it was not due: it will be printed again, or it was before. */
  readonly leaf: Leaf | undefined;
  readonly width: number;
}

/** How many lines are remembered after they left the screen: a terminal that grows may bring them back. */
const maxRemembered = 1_000;

export class Document {
  readonly #leaves = new WeakMap<Component, Leaf>();
  /** The lines that left the screen last, in order. */
  #scrolledOut: ScrolledOut[] = [];

  /**
   * All lines that are not in the scrollback, and before them as many of those that are as it takes to fill `height` rows.
   * Components further up are not even asked.
   */
  render(children: readonly Component[], { width, height, isLast }: RenderOptions): OpenLine[] {
    const leaves: Leaf[] = [];
    let count = 0;
    let isFrozen = false;
    for (const { component, isEphemeral } of leavesFromEnd(children)) {
      const isNew = !this.#leaves.has(component);
      if (isFrozen && !isNew && count >= height) break;
      const leaf = this.#update(component, width, isEphemeral);
      if (isLast) leaf.finished = leaf.lines.count;
      // What was printed before something that was printed cannot change any more. But what is new has to be printed, and
      // then so has what follows.
      if (isNew) for (const later of leaves) later.saved = 0;
      else if (isFrozen) leaf.saved = leaf.lines.count;
      isFrozen = leaf.saved > 0 || (isFrozen && !isNew);
      leaves.push(leaf);
      count += leaf.lines.count;
    }
    return toOpenLines(leaves, height);
  }

  /** These lines have left the screen at its top, as they were painted. */
  addScrolledOut(lines: readonly OpenLine[], painted: readonly { width: number }[]): void {
    for (const [index, { leaf, mustPrint }] of lines.entries()) {
      if (mustPrint) leaf.saved++;
      this.#scrolledOut.push({ leaf: mustPrint ? leaf : undefined, width: painted[index]?.width ?? 0 });
    }
    if (this.#scrolledOut.length > 2 * maxRemembered) this.#scrolledOut = this.#scrolledOut.slice(-maxRemembered);
  }

  /** The widths of the lines that left the screen last, in order. */
  get scrolledOutWidths(): number[] {
    return this.#scrolledOut.map(({ width }) => width);
  }

  /** The last `count` lines that left the screen are back on it. */
  takeBack(count: number): void {
    for (const { leaf } of this.#scrolledOut.splice(Math.max(0, this.#scrolledOut.length - count))) {
      if (leaf) leaf.saved = Math.max(0, leaf.saved - 1);
    }
  }

  #update(component: Component, width: number, isEphemeral: boolean): Leaf {
    const known = this.#leaves.get(component);
    // Asked first, while the component still has what it drew for the last width.
    const savedText = known && known.width !== width ? countSavedText(known) : 0;
    const lines = getLineSource(component, width);
    const finished = component.countFinished?.(width) ?? lines.count;
    const saved =
      savedText > 0
        ? countLinesWithText(lines.slice(0, lines.count), savedText)
        : Math.min(known?.saved ?? 0, lines.count);
    const leaf = Object.assign(known ?? {}, { lines, width, saved, finished, isEphemeral });
    this.#leaves.set(component, leaf);
    return leaf;
  }
}

/** In another width lines are broken elsewhere, and as many count as saved as have this much text. */
const countSavedText = ({ lines, saved }: Leaf): number =>
  lines.slice(0, saved).reduce((sum, line) => sum + countText(line), 0);

/** The lines of each leaf that are not saved, and as many of the others as it takes to fill `height` rows. In order. */
function toOpenLines(leavesFromEnd: readonly Leaf[], height: number): OpenLine[] {
  let room = height;
  const starts = leavesFromEnd.map(({ saved, lines }) => {
    const start = Math.min(saved, Math.max(0, lines.count - Math.max(0, room)));
    room -= lines.count - start;
    return start;
  });
  const open: OpenLine[] = [];
  let isHeldBack = false;
  for (let place = leavesFromEnd.length - 1; place >= 0; place--) {
    const leaf = leavesFromEnd[place] as Leaf;
    const start = starts[place] as number;
    let index = start;
    for (const text of leaf.lines.slice(start, leaf.lines.count)) {
      if (index >= leaf.finished && !leaf.isEphemeral) isHeldBack = true;
      const mustPrint = !isHeldBack && !leaf.isEphemeral && index >= leaf.saved;
      open.push({ text, leaf, mustPrint });
      index++;
    }
  }
  return open;
}
