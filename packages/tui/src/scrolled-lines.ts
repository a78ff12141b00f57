/**
 * The lines of a long document, of which a view shows some. Components that are far from the view are not asked: they count
 * as high as they were when they were asked last, or as one line. So a frame costs what is near the view, however long the
 * document is. What is shown is always exact, and so is a document that has not many components.
 */
import type { Component } from "./component.ts";
import { type Container, isPlainContainer } from "./components/container.ts";
import { getLineSource, type LineSource } from "./line-source.ts";

/** How many components above and below those that are visible are asked. */
const nearby = 200;

/** A component that draws lines itself. */
interface Leaf {
  readonly component: Component;
  height: number;
  /** The number of the last frame in which it was asked. */
  askedIn: number;
}

export interface LeafPosition {
  component: Component;
  /** In lines of the document. */
  top: number;
  height: number;
}

export class ScrolledLines implements LineSource {
  readonly #root: Component;
  #leaves: Leaf[] = [];
  /** The containers in the document, with the children that they had. */
  #containers: { container: Container; children: readonly Component[] }[] = [];
  #sources = new Map<Leaf, LineSource>();
  #count = 0;
  #grown = 0;
  #taken = 0;
  #frame = { number: 0, token: undefined as object | undefined, width: 0, isWidthNew: true };

  constructor(root: Component) {
    this.#root = root;
  }

  /** As far as it is known. */
  get count(): number {
    return this.#count;
  }

  /** How many lines were added so far above what was visible, because components there are higher than was known. */
  get grown(): number {
    return this.#grown;
  }

  /** What of `grown` was not taken yet: by so much the view has to move to show the same. */
  takeGrown(): number {
    const grown = this.#grown - this.#taken;
    this.#taken = this.#grown;
    return grown;
  }

  /** A new frame, unless `token` is that of the last one: components may have changed. */
  begin(width: number, token: object): void {
    const last = this.#frame;
    if (last.token === token && last.width === width) return;
    this.#frame = { number: last.number + 1, token, width, isWidthNew: last.width !== width };
    this.#sources = new Map();
    if (!this.#hasSameChildren()) this.#collectLeaves();
  }

  /**
   * Asks what is visible or near. Returns false if all of it was asked in this frame already. Else `count` may have changed,
   * and `grown` if components above have other heights than was known.
   */
  ask(top: number, height: number): boolean {
    const first = this.#findIndex(top).index;
    const last = this.#findIndex(top + Math.max(1, height) - 1).index;
    return this.#askRange(Math.max(0, first - nearby), Math.min(this.#leaves.length, last + 1 + nearby), first);
  }

  /** Asks every component, for a search. */
  askAll(top: number): void {
    this.#askRange(0, this.#leaves.length, this.#findIndex(top).index);
  }

  slice(start: number, end: number): string[] {
    const lines: string[] = [];
    let { index, top } = this.#findIndex(start);
    for (; index < this.#leaves.length && top < end; index++) {
      const leaf = this.#leaves[index] as Leaf;
      const source = this.#sources.get(leaf) ?? getLineSource(leaf.component, this.#frame.width);
      for (const line of source.slice(Math.max(0, start - top), Math.min(leaf.height, end - top))) lines.push(line);
      top += leaf.height;
    }
    return lines;
  }

  /** Who draws a line. */
  findLeaf(line: number): LeafPosition | undefined {
    const { index, top } = this.#findIndex(line);
    const leaf = this.#leaves[index];
    return leaf && line >= top ? { component: leaf.component, top, height: leaf.height } : undefined;
  }

  #askRange(start: number, end: number, firstVisible: number): boolean {
    const { number, width, isWidthNew } = this.#frame;
    let isAnyAsked = false;
    for (let index = start; index < end; index++) {
      const leaf = this.#leaves[index] as Leaf;
      if (leaf.askedIn === number) continue;
      const source = getLineSource(leaf.component, width);
      const difference = source.count - leaf.height;
      // What changes above moves what is shown, as anything does that changes. What only becomes known must not.
      if (index < firstVisible && (isWidthNew || leaf.askedIn !== number - 1)) this.#grown += difference;
      leaf.height = source.count;
      leaf.askedIn = number;
      this.#count += difference;
      this.#sources.set(leaf, source);
      isAnyAsked = true;
    }
    return isAnyAsked;
  }

  /** The leaf with this line, and the line at which it begins. */
  #findIndex(line: number): { index: number; top: number } {
    let top = 0;
    let index = 0;
    for (; index < this.#leaves.length; index++) {
      const { height } = this.#leaves[index] as Leaf;
      if (top + height > line) break;
      top += height;
    }
    return { index, top };
  }

  #hasSameChildren(): boolean {
    if (this.#frame.number === 1) return false;
    return this.#containers.every(({ container: { children }, children: before }) => {
      if (children.length !== before.length) return false;
      for (let index = 0; index < before.length; index++) if (children[index] !== before[index]) return false;
      return true;
    });
  }

  #collectLeaves(): void {
    const before = this.#leaves;
    let known: Map<Component, Leaf> | undefined;
    const find = (component: Component, index: number): Leaf => {
      if (!known) {
        // Most changes are at the end, where everything before is as it was.
        if (before[index]?.component === component) return before[index];
        known = new Map(before.slice(index).map((leaf) => [leaf.component, leaf]));
      }
      const leaf = known.get(component) ?? { component, height: 1, askedIn: 0 };
      // A component may be in the document twice.
      known.delete(component);
      return leaf;
    };
    this.#leaves = [];
    this.#containers = [];
    const collect = (component: Component) => {
      if (!isPlainContainer(component)) this.#leaves.push(find(component, this.#leaves.length));
      else {
        this.#containers.push({ container: component, children: [...component.children] });
        for (const child of component.children) collect(child);
      }
    };
    collect(this.#root);
    this.#count = this.#leaves.reduce((sum, { height }) => sum + height, 0);
  }
}

const documents = new WeakMap<Component, ScrolledLines>();

/** What is known of the document that a view scrolls. */
export function getScrolledLines(root: Component): ScrolledLines {
  let lines = documents.get(root);
  if (!lines) documents.set(root, (lines = new ScrolledLines(root)));
  return lines;
}
