/** Searches a list of paths with every key: what a longer query matches is among what the shorter one matched. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, systemClock } from "@tau/ai";
import { BestPaths } from "./best-paths.ts";
import { DirectoryMatches, type Part } from "./directory-matches.ts";
import { IndexList } from "./index-list.ts";
import type { PathList } from "./path-list.ts";
import {
  getLevel,
  getMinRank,
  isNameMatch,
  isNarrower,
  type Level,
  levels,
  type PathQuery,
  type PathRange,
  rankInDirectory,
  rankPath,
} from "./rank.ts";

/** The paths that match a query at one level. */
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
  readonly directories: DirectoryMatches;
  /** Only of the levels that were needed. */
  readonly found: Map<Level, LevelMatches>;
}

/**
 * How long a search may work before keys and frames are served. What is found by then is in the frame of its key. A search
 * that is interrupted is shown 16 ms after that frame at the earliest, so this is longer than a search of 100,000 paths.
 */
const maxSliceMs = 32;
const pathsPerCheck = 2_048;
/** How many matches of shorter queries are kept, for keys that delete. */
const maxKeptMatches = 1_000_000;

export class PathSearch {
  readonly #list: PathList;
  readonly #maxResults: number;
  readonly #clock: Clock;
  /** The query of each begins with that of the one before. */
  #searches: readonly Search[] = [];
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
    const kept = this.#searches.filter((other) => query.text.startsWith(other.query.text));
    const search = kept.find((other) => other.query.text === query.text) ?? this.#createSearch(query);
    const shorter = kept.filter((other) => other !== search && isNarrower(query, other.query));
    this.#searches = dropLarge([...kept.filter((other) => other !== search), search]);
    const paths: string[] = [];
    // Without a query, all paths are at the first level.
    for (const level of query.whole.length === 0 ? levels.slice(0, 1) : levels) {
      const wider = shorter.findLast(({ found }) => found.has(level))?.found.get(level);
      const matches = search.found.get(level) ?? (await this.#narrow(number, { search, level, wider }));
      if (!matches) return undefined;
      search.found.set(level, matches);
      if (!(await this.#scanRest(number, { search, level, matches, count }))) return undefined;
      paths.push(...matches.best.toPaths());
      if (paths.length >= this.#maxResults) break;
    }
    return paths.slice(0, this.#maxResults);
  }

  #createSearch(query: PathQuery): Search {
    return { query, directories: new DirectoryMatches(this.#list, query), found: new Map() };
  }

  /** Searches among the matches of a shorter query. */
  async #narrow(number: number, { search, level, wider }: Step & { wider: LevelMatches | undefined }) {
    const best = new BestPaths(this.#list, this.#maxResults);
    const matches: LevelMatches = { all: new IndexList(), best, scanned: 0 };
    if (!wider) return matches;
    const { values: indices, count } = wider.all;
    for (let from = 0; from < count; from += pathsPerCheck) {
      if (!(await this.#isNewest(number))) return undefined;
      this.#examine({ indices, from, to: Math.min(count, from + pathsPerCheck) }, { search, level, matches });
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
      if (step.search.query.whole.length === 0) this.#rankAll({ from, to: matches.scanned }, matches.best);
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
  #examine(part: Part, { search, level, matches }: Step & { matches: LevelMatches }): void {
    const { all } = matches;
    const first = all.count;
    if (level === "anywhere") search.directories.collect(part, all);
    else this.#collectNames(part, { query: search.query, level, all });
    this.#rank(first, { query: search.query, level, matches });
  }

  #collectNames(
    { indices, from, to }: Part,
    { query, level, all }: { query: PathQuery; level: "prefix" | "name"; all: IndexList },
  ): void {
    const { bytes, entries } = this.#list;
    const { starts, lengths, nameOffsets, kinds } = entries;
    const path: PathRange = { bytes, start: 0, end: 0, nameStart: 0, depth: 0 };
    for (let position = from; position < to; position++) {
      const index = indices ? indices[position]! : position;
      if ((query.kinds & ~kinds[index]!) !== 0) continue;
      path.start = starts[index]!;
      path.end = path.start + lengths[index]!;
      path.nameStart = path.start + nameOffsets[index]!;
      if (isNameMatch(level, query, path)) all.add(index);
    }
  }

  /** Takes the best of the matches from `first` on. */
  #rank(first: number, { query, level, matches }: { query: PathQuery; level: Level; matches: LevelMatches }): void {
    const { bytes, entries } = this.#list;
    const { starts, lengths, nameOffsets, depths } = entries;
    const { all, best } = matches;
    const { values, count } = all;
    const path: PathRange = { bytes, start: 0, end: 0, nameStart: 0, depth: 0 };
    for (let position = first; position < count; position++) {
      const index = values[position]!;
      path.start = starts[index]!;
      path.end = path.start + lengths[index]!;
      path.nameStart = path.start + nameOffsets[index]!;
      path.depth = depths[index]!;
      if (best.worstRank < getMinRank(level, query, path)) continue;
      const rank = rankPath(query, path);
      if (rank <= best.worstRank && getLevel(rank) === level) best.add(index, rank);
    }
  }
}

/** Without the first ones, if they have too many matches. The last one stays. */
function dropLarge(searches: readonly Search[]): readonly Search[] {
  const counts = searches.map(({ found }) => Array.from(found.values(), ({ all }) => all.count));
  let total = counts.flat().reduce((sum, count) => sum + count, 0);
  let first = 0;
  for (; total > maxKeptMatches && first < searches.length - 1; first++) {
    for (const count of counts[first]!) total -= count;
  }
  return searches.slice(first);
}

interface Step {
  search: Search;
  level: Level;
}
