import { PathList } from "./path-list.ts";
import { PathSearch } from "./path-search.ts";
import { toPathQuery } from "./rank.ts";

const paths = ["src/main.ts", "src/util/a.ts", ".env", "README.md", "docs/x/y.md", ""];
/** Each takes other branches. */
const queries = ["", "s", "sr", "src/", "src/m", "a.ts", "mn", "ut/a", "zz"];
const rounds = 5;

/**
 * Searches a few paths in all ways, which takes some milliseconds. V8 compiles the search for the branches that it has
 * seen, and starts over at the first key that takes another one: with 100,000 paths such a key would take 100 ms.
 */
export async function warmUpSearch(): Promise<void> {
  const list = new PathList();
  list.append(Buffer.from(paths.join("\0")));
  for (let round = 0; round < rounds; round++) {
    const search = new PathSearch(list, { maxResults: 3 });
    for (const query of queries) await search.search(toPathQuery(query));
  }
}
