/** Text deltas from the socket's bytes to the reader's events. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { withServer } from "./streaming.mjs";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const count = 100_000;

export default async function bench(report) {
  await withServer(async (ask) => {
    // Two whole rounds first: the heap holds the compiler's findings before it is measured.
    for (let round = 0; round < 2; round++) await ask({ count, size: 5, kind: "text" });
    let best = Number.POSITIVE_INFINITY;
    collect();
    const heapBefore = process.memoryUsage().heapUsed;
    for (let round = 0; round < 5; round++) {
      const { cpuSeconds, deltas } = await ask({ count, size: 5, kind: "text" });
      if (deltas !== count) throw new Error(`${deltas} deltas arrived`);
      best = Math.min(best, cpuSeconds);
    }
    collect();
    report("text deltas", count / best, "deltas per CPU second");
    report("heap growth over 500,000 deltas", (process.memoryUsage().heapUsed - heapBefore) / 1024, "KiB");
  });
}
