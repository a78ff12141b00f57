/** Tool turns of one agent: a long transcript must not make a turn dearer. */
import { Agent } from "@tau/agent";
import { cpuSince, echoTool, model, toolStream } from "./memory-model.mjs";

const turns = 2_000;
const sample = 100;

export default async function bench(report) {
  await run(200);
  const rounds = [];
  for (let round = 0; round < 9; round++) rounds.push(await run(turns));
  const least = (part) => Math.min(...rounds.map((round) => round[part]));
  report("a turn", least("total") / turns, "µs of CPU");
  // Each the fastest of all rounds: a hundred turns take a millisecond, and something else always happens in one of them.
  report(`the last ${sample} turns over the first ${sample}`, least("last") / least("first"), "times");
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
