/**
 * Finds the paths that have all bytes of a query in their order. Most paths are in a directory with many others, so that
 * what a directory has of the query is found once.
 */
import type { IndexList } from "./index-list.ts";
import type { PathList } from "./path-list.ts";
import { countInOrder, type PathQuery } from "./rank.ts";

/** Positions in a list of indices, or without one indices. */
export interface Part {
  indices?: Uint32Array;
  from: number;
  to: number;
}

export class DirectoryMatches {
  readonly #list: PathList;
  readonly #query: PathQuery;
  /** By the number of a directory: how many bytes of the query are in its path, and one more. 0 if that is not known. */
  #counts = new Uint16Array(0);

  constructor(list: PathList, query: PathQuery) {
    this.#list = list;
    this.#query = query;
  }

  /** Adds the paths that match. */
  collect({ indices, from, to }: Part, all: IndexList): void {
    const { bytes, entries, directoryCount } = this.#list;
    const { starts, lengths, nameOffsets, kinds, directories } = entries;
    const wantedKinds = this.#query.kinds;
    const search = { wanted: this.#query.whole, first: 0 };
    const { length } = search.wanted;
    const counts = this.#reserve(directoryCount + 1);
    for (let position = from; position < to; position++) {
      const index = indices ? indices[position]! : position;
      if ((wantedKinds & ~kinds[index]!) !== 0) continue;
      const start = starts[index]!;
      const nameStart = start + nameOffsets[index]!;
      const directory = directories[index]!;
      if (counts[directory] === 0) {
        search.first = 0;
        counts[directory] = countInOrder(search, bytes, start, nameStart) + 1;
      }
      search.first = counts[directory]! - 1;
      if (countInOrder(search, bytes, nameStart, start + lengths[index]!) === length) all.add(index);
    }
  }

  #reserve(size: number): Uint16Array {
    if (size <= this.#counts.length) return this.#counts;
    const larger = new Uint16Array(Math.max(size, 2 * this.#counts.length));
    larger.set(this.#counts);
    this.#counts = larger;
    return larger;
  }
}
