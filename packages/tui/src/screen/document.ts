/** Which lines of a tree of components are in the scrollback of the terminal, and which may still change. */
import type { Component } from "../component.ts";
import { getLineSource, type LineSource } from "../line-source.ts";
import { leavesFromEnd } from "./leaves.ts";
import { countText, findText } from "./same-text.ts";

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
  /** Whether it is in the scrollback, and shown again. */
  readonly isSaved: boolean;
}

interface RenderOptions {
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
  /** When it left, in milliseconds from any point on. */
  readonly at: number;
  /** Whether the row itself and all before it are above a rule, and stay there. */
  readonly isAboveRule?: boolean;
}

/** How many lines are remembered after they left the screen: a terminal that grows may bring them back. */
const maxRemembered = 1_000;

export class Document {
  readonly #leaves = new WeakMap<Component, Leaf>();
  /** The lines that left the screen last, in order. */
  #scrolledOut: ScrolledOut[] = [];
  #isSplit = false;

  /** Whether the scrollback ends inside a line of the last frame, which was broken for another width before. */
  get isSplit(): boolean {
    return this.#isSplit;
  }

  /**
   * All lines that are not in the scrollback, and before them as many of those that are as it takes to fill `height` rows.
   * Components further up are not even asked.
   */
  render(children: readonly Component[], { width, height, isLast }: RenderOptions): OpenLine[] {
    this.#isSplit = false;
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
  addScrolledOut(lines: readonly OpenLine[], painted: readonly { width: number }[], at: number): void {
    for (const [index, { leaf, mustPrint }] of lines.entries()) {
      if (mustPrint) leaf.saved++;
      this.#scrolledOut.push({ leaf: mustPrint ? leaf : undefined, width: painted[index]?.width ?? 0, at });
    }
    this.#forgetOldest();
  }

  /** These rows, and a rule below them, have left the screen or are about to; their lines will be printed again. */
  addAboveRule(rows: readonly { width: number }[], at: number): void {
    for (const { width } of rows) this.#scrolledOut.push({ leaf: undefined, width, at, isAboveRule: true });
    this.#forgetOldest();
  }

  /** How many of the lines that left the screen last are below the last rule. */
  get countBelowRule(): number {
    return this.#scrolledOut.length - 1 - this.#scrolledOut.findLastIndex(({ isAboveRule }) => isAboveRule === true);
  }

  /** The widths of the lines that left the screen last, in order. */
  get scrolledOutWidths(): number[] {
    return this.#scrolledOut.map(({ width }) => width);
  }

  /** Lines that left the screen after `time` count as not printed. Returns whether there were any. */
  takeBackSince(time: number): boolean {
    const index = this.#scrolledOut.findLastIndex(({ at }) => at <= time) + 1;
    const recent = this.#scrolledOut.slice(index);
    for (const { leaf } of recent) if (leaf) leaf.saved = Math.max(0, leaf.saved - 1);
    // They stay in the list, since rows are there; only they do not stand for these lines any more.
    this.#scrolledOut = [...this.#scrolledOut.slice(0, index), ...recent.map((row) => ({ ...row, leaf: undefined }))];
    return recent.some(({ leaf }) => leaf !== undefined);
  }

  #forgetOldest(): void {
    if (this.#scrolledOut.length > 2 * maxRemembered) this.#scrolledOut = this.#scrolledOut.slice(-maxRemembered);
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
    const place = savedText > 0 ? findText(lines.slice(0, lines.count), savedText) : undefined;
    if (place?.isInside) this.#isSplit = true;
    const saved = place?.lines ?? Math.min(known?.saved ?? 0, lines.count);
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
      const isSaved = !leaf.isEphemeral && index < leaf.saved;
      const mustPrint = !isHeldBack && !leaf.isEphemeral && !isSaved;
      open.push({ text, leaf, mustPrint, isSaved });
      index++;
    }
  }
  return open;
}
