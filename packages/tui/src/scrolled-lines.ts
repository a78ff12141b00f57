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

/** How many components are added to what is known; with more, all is collected again. */
const maxAppended = 1_000;

/** A component that draws lines itself. */
interface Leaf {
  readonly component: Component;
  height: number;
  /** The number of the last frame in which it was asked. */
  askedIn: number;
}

/** A container in the document as it was. */
interface KnownContainer {
  readonly container: Container;
  readonly children: Component[];
  /** Whether none of its children is a container. */
  isFlat: boolean;
  /** The index after its last leaf. */
  end: number;
}

interface LeafPosition {
  component: Component;
  /** In lines of the document. */
  top: number;
  height: number;
}

export class ScrolledLines implements LineSource {
  readonly #root: Component;
  #leaves: Leaf[] = [];
  #containers: KnownContainer[] = [];
  #sources = new Map<Leaf, LineSource>();
  #count = 0;
  /** Where was looked last, since the next place is near. */
  #hint = { index: 0, top: 0 };
  #grown = 0;
  #taken = 0;
  #frame = { number: 0, token: undefined as object | undefined, width: 0, isWidthNew: true };

  constructor(root: Component) {
    this.#root = root;
  }

  /** The number of lines, as far as it is known. */
  get count(): number {
    return this.#count;
  }

  /** How many lines were added so far above what was visible, because components there are higher than was known. */
  get grown(): number {
    return this.#grown;
  }

  /** Takes the part of `grown` that was not taken yet: by so much the view has to move to show the same. */
  takeGrown(): number {
    const grown = this.#grown - this.#taken;
    this.#taken = this.#grown;
    return grown;
  }

  /**
   * A new frame, unless `token` is that of the last one: components may have changed. What is new before `held` counts as
   * `grown`.
   */
  begin(width: number, token: object, held?: Component): void {
    const last = this.#frame;
    if (last.token === token && last.width === width) return;
    this.#frame = { number: last.number + 1, token, width, isWidthNew: last.width !== width };
    this.#sources = new Map();
    if (held) this.#hold(held);
    else this.#updateLeaves();
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

  /** The component that draws a line. */
  findLeaf(line: number): LeafPosition | undefined {
    const { index, top } = this.#findIndex(line);
    const leaf = this.#leaves[index];
    return leaf && line >= top ? { component: leaf.component, top, height: leaf.height } : undefined;
  }

  /** Measures what is new before the component at once: some of it may be visible now. */
  #hold(component: Component): void {
    const first = getFirstLeaf(component);
    const find = () => this.#leaves.findIndex((leaf) => leaf.component === first);
    const measure = (end: number) => this.#leaves.slice(0, end).reduce((sum, { height }) => sum + height, 0);
    const before = find();
    const top = measure(before);
    this.#updateLeaves();
    const after = find();
    if (before < 0 || after < 0) return;
    this.#grown += measure(after) - top;
    this.#askRange(Math.max(0, after - nearby), after, after);
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
      if (index < this.#hint.index) this.#hint.top += difference;
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
    let { index, top } = this.#hint;
    while (index > 0 && top > line) top -= (this.#leaves[--index] as Leaf).height;
    for (; index < this.#leaves.length; index++) {
      const { height } = this.#leaves[index] as Leaf;
      if (top + height > line) break;
      top += height;
    }
    this.#hint = { index, top };
    return { index, top };
  }

  #updateLeaves(): void {
    const changed = this.#containers.filter(({ container, children }) => !isPrefix(children, container.children, true));
    const [only] = changed;
    if (this.#frame.number > 1 && changed.length === 0) return;
    // Most changes are additions to a long list.
    if (!only || changed.length > 1 || !this.#append(only)) this.#collectLeaves();
  }

  /** Whether the container had children, and only got more at its end, none of them a container. */
  #append(known: KnownContainer): boolean {
    const { container, children, isFlat, end } = known;
    const added = container.children.slice(children.length);
    if (!isFlat || children.length === 0 || added.length > maxAppended) return false;
    if (!isPrefix(children, container.children) || added.some((child) => isPlainContainer(child))) return false;
    this.#leaves.splice(end, 0, ...added.map((component) => ({ component, height: 1, askedIn: 0 })));
    for (const component of added) children.push(component);
    const position = this.#containers.indexOf(known);
    for (const [place, other] of this.#containers.entries()) {
      if (place > position || other.end >= end) other.end += added.length;
    }
    this.#count += added.length;
    const { index, top } = this.#hint;
    if (index > end) this.#hint = { index: index + added.length, top: top + added.length };
    return true;
  }

  #collectLeaves(): void {
    const before = this.#leaves;
    let known: Map<Component, Leaf> | undefined;
    const find = (component: Component, index: number): Leaf => {
      if (!known) {
        // Most changes are at the end, where everything before is as it was.
        if (before[index]?.component === component) return before[index];
        if (index >= before.length) return { component, height: 1, askedIn: 0 };
        known = new Map(before.slice(index).map((leaf) => [leaf.component, leaf]));
      }
      const leaf = known.get(component) ?? { component, height: 1, askedIn: 0 };
      // A component may be in the document twice.
      known.delete(component);
      return leaf;
    };
    this.#leaves = [];
    this.#containers = [];
    const collect = (container: Container) => {
      const known = { container, children: [...container.children], isFlat: true, end: 0 };
      this.#containers.push(known);
      for (const child of known.children) {
        if (isPlainContainer(child)) {
          known.isFlat = false;
          collect(child);
        } else this.#leaves.push(find(child, this.#leaves.length));
      }
      known.end = this.#leaves.length;
    };
    if (isPlainContainer(this.#root)) collect(this.#root);
    else this.#leaves.push(find(this.#root, 0));
    this.#hint = { index: 0, top: 0 };
    this.#count = this.#leaves.reduce((sum, { height }) => sum + height, 0);
  }
}

const getFirstLeaf = (component: Component): Component | undefined =>
  isPlainContainer(component) ? component.children.map(getFirstLeaf).find((leaf) => leaf !== undefined) : component;

/** Whether `list` begins with `start`, or is the same. */
function isPrefix(start: readonly Component[], list: readonly Component[], isSame = false): boolean {
  if (isSame ? list.length !== start.length : list.length < start.length) return false;
  for (let index = 0; index < start.length; index++) if (start[index] !== list[index]) return false;
  return true;
}

const documents = new WeakMap<Component, ScrolledLines>();

/** Returns what is known of the document that a view scrolls. */
export function getScrolledLines(root: Component): ScrolledLines {
  let lines = documents.get(root);
  if (!lines) documents.set(root, (lines = new ScrolledLines(root)));
  return lines;
}
