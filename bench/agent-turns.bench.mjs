/** Tool turns of one agent: a long transcript must not make a turn dearer. */
import { Agent } from "@tau/agent";
import { cpuSince, echoTool, model, toolStream } from "./memory-model.mjs";

const turns = 2_000;
const sample = 100;

export default async function bench(report) {
  await run(200);
  let best;
  for (let round = 0; round < 5; round++) {
    const result = await run(turns);
    if (!best || result.total < best.total) best = result;
  }
  report("a turn", best.total / turns, "µs of CPU");
  report(`the last ${sample} turns over the first ${sample}`, best.last / best.first, "times");
}

async function run(count) {
  const agent = new Agent({ initialState: { model, tools: [echoTool] }, streamFn: toolStream(count) });
  const marks = [];
  agent.subscribe((event) => {
    if (event.type === "turn_end") marks.push(cpuSince(started));
  });
  const started = process.cpuUsage();
  await agent.prompt("go");
  const total = cpuSince(started);
  if (agent.state.messages.length !== 2 * count + 2) throw new Error("turns are missing");
  return { total, first: marks[sample] - marks[0], last: marks[count - 1] - marks[count - 1 - sample] };
}
