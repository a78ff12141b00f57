/** A page of 10,000 sessions, and what closed sessions cost: the memory of two gateways, with and without them. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const sessions = 10_000;

export default async function bench(report) {
  const [without, withMany] = [await measure(0), await measure(sessions)];
  report("the first page, the first time", withMany.firstMs, "ms");
  report("the first page", withMany.pageMs, "ms");
  report("the first page", withMany.pageCpuMs, "ms of CPU");
  report("a page in the middle", withMany.middleMs, "ms");
  report("the first page after a session was used", withMany.changedMs, "ms");
  report("opening a session by its id", withMany.openMs, "ms");
  report("memory for closed sessions", (withMany.bytes - without.bytes) / 1024 / 1024, "MiB");
}

/** In a process of its own, whose memory nothing else has touched. */
async function measure(count) {
  const child = fork(join(import.meta.dirname, "gateway-list-server.mjs"), [String(count)], {
    stdio: "inherit",
    execArgv: ["--expose-gc"],
  });
  const [result] = await once(child, "message");
  await once(child, "exit");
  return result;
}
