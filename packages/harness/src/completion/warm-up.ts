import { setImmediate as nextTurn } from "node:timers/promises";
import { PathList } from "./path-list.ts";
import { PathSearch } from "./path-search.ts";
import { toPathQuery } from "./rank.ts";

const paths = ["src/main", "src/util/a", ".env", "README", "docs/x/y"];
/** So many of each that V8 compiles the loops over them. */
const pathCount = 100;
/** Each takes other branches. */
const queries = ["", "s", "sr", "src/", "src/m", "a1", "mn", "ut/a", "zz"];
const rounds = 2;

/**
 * Searches some paths in all ways, which takes some milliseconds. V8 compiles the search for the branches that it has
 * seen, and starts over at the first key that takes another one: with 100,000 paths such a key would take 100 ms.
 */
export async function warmUpSearch(): Promise<void> {
  const list = new PathList();
  const names = Array.from({ length: pathCount }, (_unused, number) => paths.map((path) => `${path}${number}.ts\0`));
  list.append(Buffer.from(names.flat().join("")));
  for (let round = 0; round < rounds; round++) {
    const search = new PathSearch(list, { maxResults: 3 });
    for (const query of queries) {
      await search.search(toPathQuery(query));
      // Keys and frames go first.
      await nextTurn();
    }
  }
}
