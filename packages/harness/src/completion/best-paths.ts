/** The best of many paths: a heap with the worst of them on top, so that most paths cost one comparison. */
import type { PathList } from "./path-list.ts";

interface RankedPath {
  index: number;
  rank: number;
}

export class BestPaths {
  readonly #list: PathList;
  readonly #maxPaths: number;
  readonly #heap: RankedPath[] = [];
  #worstRank = Infinity;

  constructor(list: PathList, maxPaths: number) {
    this.#list = list;
    this.#maxPaths = maxPaths;
  }

  /** A path with a larger rank than this is not added. */
  get worstRank(): number {
    return this.#worstRank;
  }

  add(index: number, rank: number): void {
    const heap = this.#heap;
    if (heap.length < this.#maxPaths) this.#rise({ index, rank });
    else if (this.#isBetter(index, rank, heap[0]!)) this.#sink({ index, rank });
    if (heap.length === this.#maxPaths) this.#worstRank = heap[0]!.rank;
  }

  /** Best first. */
  toPaths(): string[] {
    return this.#heap.toSorted((a, b) => this.#compare(a, b)).map(({ index }) => this.#list.getPath(index));
  }

  /** Adds an entry at the end, and moves it up to its place. */
  #rise(entry: RankedPath): void {
    const heap = this.#heap;
    let hole = heap.length;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (this.#compare(entry, heap[parent]!) <= 0) break;
      heap[hole] = heap[parent]!;
      hole = parent;
    }
    heap[hole] = entry;
  }

  /** Replaces the worst entry, and moves the new one down to its place. */
  #sink(entry: RankedPath): void {
    const heap = this.#heap;
    let hole = 0;
    for (;;) {
      const [left, right] = [2 * hole + 1, 2 * hole + 2];
      if (left >= heap.length) break;
      const child = right < heap.length && this.#compare(heap[right]!, heap[left]!) > 0 ? right : left;
      if (this.#compare(heap[child]!, entry) <= 0) break;
      heap[hole] = heap[child]!;
      hole = child;
    }
    heap[hole] = entry;
  }

  #isBetter(index: number, rank: number, other: RankedPath): boolean {
    return rank < other.rank || (rank === other.rank && this.#compareBytes(index, other.index) < 0);
  }

  #compare(a: RankedPath, b: RankedPath): number {
    return a.rank - b.rank || this.#compareBytes(a.index, b.index);
  }

  #compareBytes(a: number, b: number): number {
    const { bytes, entries } = this.#list;
    const [startA, startB] = [entries.starts[a]!, entries.starts[b]!];
    const shared = Math.min(entries.lengths[a]!, entries.lengths[b]!);
    for (let offset = 0; offset < shared; offset++) {
      const difference = bytes[startA + offset]! - bytes[startB + offset]!;
      if (difference !== 0) return difference;
    }
    return entries.lengths[a]! - entries.lengths[b]!;
  }
}
