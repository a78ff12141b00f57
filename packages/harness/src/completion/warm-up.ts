import { setImmediate as nextTurn } from "node:timers/promises";
import { PathList } from "./path-list.ts";
import { PathSearch } from "./path-search.ts";
import { toPathQuery } from "./rank.ts";

const paths = ["src/main", "src/util/a", ".env", "README", "docs/x/y"];
/** Each takes other branches. */
const queries = ["", "s", "sr", "src/", "src/m", "a1", "mn", "mnt", "ut/a", "util/", "zz"];
/** How many of each path a round has: few, until all branches were seen; then so many that V8 compiles the loops over them. */
const rounds = [20, 20, 500];

/**
 * Searches some paths in all ways, which takes some milliseconds. V8 compiles the search for the branches that it has
 * seen, and starts over at the first key that takes another one: with 100,000 paths such a key would take 100 ms.
 */
export async function warmUpSearch(): Promise<void> {
  for (const count of rounds) {
    const search = new PathSearch(createList(count), { maxResults: 3 });
    for (const query of queries) {
      await search.search(toPathQuery(query));
      // Keys and frames go first.
      await nextTurn();
    }
  }
}

function createList(count: number): PathList {
  const list = new PathList();
  const names = Array.from({ length: count }, (_unused, number) => paths.map((path) => `${path}${number}.ts\0`));
  list.append(Buffer.from(names.flat().join("")));
  return list;
}
