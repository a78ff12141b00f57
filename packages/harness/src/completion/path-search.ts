/** Searches a list of paths with every key: what a longer query matches is among what the shorter one matched. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, systemClock } from "@tau/ai";
import { BestPaths } from "./best-paths.ts";
import { IndexList } from "./index-list.ts";
import type { PathList } from "./path-list.ts";
import {
  getLevel,
  getMinRank,
  isMatch,
  isNarrower,
  type Level,
  levels,
  type PathQuery,
  type PathRange,
  rankInDirectory,
  rankPath,
} from "./rank.ts";

/** What matches a query at one level. */
interface LevelMatches {
  /** Empty for an empty query, which all paths match. */
  readonly all: IndexList;
  /** The best of those that match at no earlier level. */
  readonly best: BestPaths;
  /** How many paths of the list were looked at. */
  scanned: number;
}

interface Search {
  readonly query: PathQuery;
  /** Only of the levels that were needed. */
  readonly found: Map<Level, LevelMatches>;
}

/** How long a search may work before keys and frames are served. */
const maxSliceMs = 8;
const pathsPerCheck = 2_048;

export class PathSearch {
  readonly #list: PathList;
  readonly #maxResults: number;
  readonly #clock: Clock;
  #last: Search | undefined;
  /** How many searches were begun. The newest ends those before it. */
  #begun = 0;
  #sliceStartMs = 0;

  constructor(list: PathList, { maxResults, clock = systemClock }: { maxResults: number; clock?: Clock }) {
    this.#list = list;
    this.#maxResults = maxResults;
    this.#clock = clock;
  }

  /**
   * The best of the paths that are in the list by now, best first. Those that are added meanwhile are left out: a list
   * that grows as fast as it is searched would have no end. Undefined if another search was begun meanwhile.
   */
  async search(query: PathQuery): Promise<string[] | undefined> {
    const number = ++this.#begun;
    const { count } = this.#list;
    this.#sliceStartMs = this.#clock.monotonic();
    const last = this.#last;
    const search = last?.query.text === query.text ? last : { query, found: new Map<Level, LevelMatches>() };
    const shorter = last !== search && last && isNarrower(query, last.query) ? last : undefined;
    const paths: string[] = [];
    // Without a query, all paths are at the first level.
    for (const level of query.whole.length === 0 ? levels.slice(0, 1) : levels) {
      const matches = search.found.get(level) ?? (await this.#narrow(number, { query, level, shorter }));
      if (!matches) return undefined;
      search.found.set(level, matches);
      this.#last = search;
      if (!(await this.#scanRest(number, { query, level, matches, count }))) return undefined;
      paths.push(...matches.best.toPaths());
      if (paths.length >= this.#maxResults) break;
    }
    return paths.slice(0, this.#maxResults);
  }

  /** What matches among the matches of a shorter query. */
  async #narrow(number: number, { query, level, shorter }: Step & { shorter: Search | undefined }) {
    const best = new BestPaths(this.#list, this.#maxResults);
    const matches: LevelMatches = { all: new IndexList(), best, scanned: 0 };
    const wider = shorter?.found.get(level);
    if (!wider) return matches;
    const { values: indices, count } = wider.all;
    for (let from = 0; from < count; from += pathsPerCheck) {
      if (!(await this.#isNewest(number))) return undefined;
      this.#examine({ indices, from, to: Math.min(count, from + pathsPerCheck) }, { query, level, matches });
    }
    matches.scanned = wider.scanned;
    return matches;
  }

  /** Looks at those of the first `count` paths that were not looked at. False if it did not finish. */
  async #scanRest(number: number, step: Step & { matches: LevelMatches; count: number }): Promise<boolean> {
    const { matches, count } = step;
    while (matches.scanned < count) {
      if (!(await this.#isNewest(number))) return false;
      const from = matches.scanned;
      matches.scanned = Math.min(count, from + pathsPerCheck);
      if (step.query.whole.length === 0) this.#rankAll({ from, to: matches.scanned }, matches.best);
      else this.#examine({ from, to: matches.scanned }, step);
    }
    return true;
  }

  /** Serves keys and frames if it is time. */
  async #isNewest(number: number): Promise<boolean> {
    if (this.#clock.monotonic() - this.#sliceStartMs < maxSliceMs) return true;
    await nextTurn();
    this.#sliceStartMs = this.#clock.monotonic();
    return number === this.#begun;
  }

  /** For an empty query. A small function, which is fast from the start: it runs when a mention begins. */
  #rankAll({ from, to }: Part, best: BestPaths): void {
    const { bytes, entries } = this.#list;
    const { starts, nameOffsets, depths } = entries;
    for (let index = from; index < to; index++) {
      const rank = rankInDirectory(depths[index]!, bytes[starts[index]! + nameOffsets[index]!]!);
      if (rank <= best.worstRank) best.add(index, rank);
    }
  }

  /** Looks at the paths with these indices, otherwise at those from `from` to `to` themselves. */
  #examine({ indices, from, to }: Part, { query, level, matches }: Step & { matches: LevelMatches }): void {
    const { bytes, entries } = this.#list;
    const { starts, lengths, nameOffsets, kinds, depths } = entries;
    const { all, best } = matches;
    const path: PathRange = { bytes, start: 0, end: 0, nameStart: 0, depth: 0 };
    for (let position = from; position < to; position++) {
      const index = indices ? indices[position]! : position;
      if ((query.kinds & ~kinds[index]!) !== 0) continue;
      path.start = starts[index]!;
      path.end = path.start + lengths[index]!;
      path.nameStart = path.start + nameOffsets[index]!;
      path.depth = depths[index]!;
      if (!isMatch(level, query, path)) continue;
      all.add(index);
      if (best.worstRank < getMinRank(level, query, path)) continue;
      const rank = rankPath(query, path);
      if (getLevel(rank) === level) best.add(index, rank);
    }
  }
}

/** Positions in a list of indices, or without one indices. */
interface Part {
  indices?: Uint32Array;
  from: number;
  to: number;
}

interface Step {
  query: PathQuery;
  level: Level;
}
