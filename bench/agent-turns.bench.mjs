/** Tool turns of one agent: a long transcript must not make a turn dearer. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Agent } from "@tau/agent";
import { cpuSince, echoTool, model, toolStream } from "./memory-model.mjs";

const turns = 2_000;
const sample = 100;
const processes = 15;

export default async function bench(report) {
  const cold = Array.from({ length: processes }, firstTurns).sort((one, other) => one - other);
  report("a turn, of the first that a process takes", cold[0], "µs of CPU on all threads (under 50)");
  report("the same, in the middle of the runs", cold[processes >> 1], "µs of CPU on all threads");
  await run(200);
  const rounds = [];
  for (let round = 0; round < 9; round++) rounds.push(await run(turns));
  const least = (part) => Math.min(...rounds.map((round) => round[part]));
  report("a turn", least("total") / turns, "µs of CPU (under 50)");
  // Each the fastest of all rounds: a hundred turns take a millisecond, and something else always happens in one of them.
  report(`the last ${sample} turns over the first ${sample}`, least("last") / least("first"), "times");
}

function firstTurns() {
  const script = join(import.meta.dirname, "agent-turns-cold.mjs");
  return Number(execFileSync(process.execPath, [script, String(turns)], { encoding: "utf8" }));
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
