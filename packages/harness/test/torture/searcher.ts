/** A process that searches a directory of sessions again and again, until it is killed. */
import { searchSessions } from "../../src/search/index.ts";

const [directory = "", ...words] = process.argv.slice(2);
for (let round = 0; ; round++) {
  await searchSessions([directory], { text: words[round % words.length]!, limit: Infinity });
  process.stdout.write(".");
}
