/** Which lines of a tree of components are in the scrollback of the terminal, and which may still change. */
import type { Component } from "../component.ts";
import { leavesFromEnd } from "./leaves.ts";

/** A component that draws lines itself. */
interface Leaf {
  /** As of the last frame in which it was asked. */
  lines: readonly string[];
  /** For which width. */
  width: number;
  /** How many of them are in the scrollback. */
  saved: number;
  isEphemeral: boolean;
}

/** A line that is on the screen, or has to pass over it. */
export interface OpenLine {
  readonly text: string;
  readonly leaf: Leaf;
  /** Whether it may leave the screen without a trace: it is in the scrollback already, or ephemeral. */
  readonly isSaved: boolean;
}

/** How many lines are remembered after they left the screen: a terminal that grows may bring them back. */
const maxRemembered = 1_000;

export class Document {
  readonly #leaves = new WeakMap<Component, Leaf>();
  /** The lines that left the screen last, in order. */
  #scrolledOut: { leaf: Leaf; width: number }[] = [];

  /**
   * All lines that are not in the scrollback, and before them as many of those that are as it takes to fill `height` rows.
   * Components further up are not even asked.
   */
  render(children: readonly Component[], width: number, height: number): OpenLine[] {
    const leaves: Leaf[] = [];
    let count = 0;
    let isFrozen = false;
    for (const { component, isEphemeral } of leavesFromEnd(children)) {
      const isNew = !this.#leaves.has(component);
      if (isFrozen && !isNew && count >= height) break;
      const leaf = this.#update(component, width, isEphemeral);
      // What was printed before something that was printed cannot change any more. But what is new has to be printed, and
      // then so has what follows.
      if (isNew) for (const later of leaves) later.saved = 0;
      else if (isFrozen) leaf.saved = leaf.lines.length;
      isFrozen = leaf.saved > 0 || (isFrozen && !isNew);
      leaves.push(leaf);
      count += leaf.lines.length;
    }
    return takeFromEnd(leaves, height).toReversed().flat();
  }

  /** These lines have left the screen at its top, as they were painted. */
  addScrolledOut(lines: readonly OpenLine[], painted: readonly { width: number }[]): void {
    for (const [index, { leaf, isSaved }] of lines.entries()) {
      if (isSaved) continue;
      leaf.saved++;
      this.#scrolledOut.push({ leaf, width: painted[index]?.width ?? 0 });
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
      leaf.saved = Math.max(0, leaf.saved - 1);
    }
  }

  #update(component: Component, width: number, isEphemeral: boolean): Leaf {
    const lines = component.render(width);
    const leaf = this.#leaves.get(component) ?? { lines, width, saved: 0, isEphemeral };
    this.#leaves.set(component, leaf);
    if (leaf.lines !== lines) leaf.saved = moveSaved(leaf, lines.length, width);
    leaf.lines = lines;
    leaf.width = width;
    leaf.isEphemeral = isEphemeral;
    return leaf;
  }
}

/** The lines of each leaf that are not saved, and as many of the others as it takes to fill `height` rows. */
function takeFromEnd(leaves: readonly Leaf[], height: number): OpenLine[][] {
  let room = height;
  return leaves.map((leaf) => {
    const first = Math.min(leaf.saved, Math.max(0, leaf.lines.length - Math.max(0, room)));
    room -= leaf.lines.length - first;
    return leaf.lines
      .slice(first)
      .map((text, at) => ({ text, leaf, isSaved: leaf.isEphemeral || first + at < leaf.saved }));
  });
}

/** With another width, lines are broken elsewhere: about the same part of them counts as saved, and rather too little. */
function moveSaved({ saved, lines, width }: Leaf, newCount: number, newWidth: number): number {
  if (width === newWidth || newCount === lines.length) return Math.min(saved, newCount);
  return saved === lines.length ? newCount : Math.floor((saved * newCount) / lines.length);
}
