/** Many agents in one process: a turn must not become slow, and timers must still be served. */
import { getHeapStatistics } from "node:v8";
import { Agent } from "@tau/agent";
import { cpuSince, echoTool, model, toolStream } from "./memory-model.mjs";

const agents = 1_000;
const turns = 20;

export default async function bench(report) {
  await runAll(100);
  // V8 still compiles during the first round; the later ones show a process that has run for a while.
  const first = await measure();
  const rounds = [];
  for (let round = 0; round < 3; round++) rounds.push(await measure());
  report("a turn, in the first round", first.cpu / (agents * turns), "µs of CPU");
  report("a turn", Math.min(...rounds.map(({ cpu }) => cpu)) / (agents * turns), "µs of CPU (limit 40)");
  report("timers served in a round", first.served, "times");
  report("longest wait of a timer", first.maxWaitMs, "ms");
  report("peak heap", first.peakHeap / 1024 / 1024, "MiB");
}

async function measure() {
  let served = 0;
  let maxWaitMs = 0;
  let peakHeap = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    maxWaitMs = Math.max(maxWaitMs, now - last);
    last = now;
    served++;
    peakHeap = Math.max(peakHeap, getHeapStatistics().used_heap_size);
  }, 5);
  const started = process.cpuUsage();
  await runAll(agents);
  const cpu = cpuSince(started);
  peakHeap = Math.max(peakHeap, getHeapStatistics().used_heap_size);
  clearInterval(timer);
  return { cpu, served, maxWaitMs, peakHeap };
}

async function runAll(count) {
  const all = Array.from({ length: count }, () => {
    const agent = new Agent({ initialState: { model, tools: [echoTool] }, streamFn: toolStream(turns) });
    agent.subscribe(() => undefined);
    return agent;
  });
  await Promise.all(all.map((agent) => agent.prompt("go")));
  if (all.some((agent) => agent.state.messages.length !== 2 * turns + 2)) throw new Error("turns are missing");
}
