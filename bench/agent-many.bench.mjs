/** Many agents in one process: each turn must stay cheap, and timers must still be served. */
import { Agent } from "@tau/agent";
import { cpuSince, echoTool, model, toolStream } from "./memory-model.mjs";

const agents = 1_000;
const turns = 20;

export default async function bench(report) {
  await runAll(100);
  let latest = 0;
  let longestWaitMs = 0;
  let peakHeap = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longestWaitMs = Math.max(longestWaitMs, now - last);
    last = now;
    latest++;
    peakHeap = Math.max(peakHeap, process.memoryUsage().heapUsed);
  }, 5);
  const started = process.cpuUsage();
  await runAll(agents);
  const cpu = cpuSince(started);
  peakHeap = Math.max(peakHeap, process.memoryUsage().heapUsed);
  clearInterval(timer);
  report("a turn", cpu / (agents * turns), "µs of CPU");
  report("timers served meanwhile", latest, "times");
  report("longest wait of a timer", longestWaitMs, "ms");
  report("peak heap", peakHeap / 1024 / 1024, "MiB");
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
