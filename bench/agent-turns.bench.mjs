/** Turns with a tool call of one agent: a long transcript must not make a turn slower. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Agent } from "@tau/agent";
import { cpuSince, echoTool, model, toolStream } from "./memory-model.mjs";

const turns = 2_000;
const sample = 100;
const processes = 15;

export default async function bench(report) {
  const cold = Array.from({ length: processes }, measureNewProcess).sort((a, b) => a - b);
  report("a turn in a new process", cold[0], "µs of CPU on all threads");
  report("a turn in a new process, median", cold[processes >> 1], "µs of CPU on all threads");
  await run(200);
  const rounds = [];
  for (let round = 0; round < 9; round++) rounds.push(await run(turns));
  const getFastest = (part) => Math.min(...rounds.map((round) => round[part]));
  report("a turn", getFastest("total") / turns, "µs of CPU (limit 50)");
  // The fastest of all rounds for each: a hundred turns take milliseconds, and other work disturbs some rounds.
  report(`the last ${sample} turns over the first ${sample}`, getFastest("last") / getFastest("first"), "times");
}

function measureNewProcess() {
  const script = join(import.meta.dirname, "agent-turns-cold.mjs");
  return Number(execFileSync(process.execPath, [script, String(turns)], { encoding: "utf8" }));
}

async function run(count) {
  const agent = new Agent({ initialState: { model, tools: [echoTool] }, streamFn: toolStream(count) });
  const turnEnds = [];
  agent.subscribe((event) => {
    if (event.type === "turn_end") turnEnds.push(cpuSince(started));
  });
  const started = process.cpuUsage();
  await agent.prompt("go");
  const total = cpuSince(started);
  if (agent.state.messages.length !== 2 * count + 2) throw new Error("turns are missing");
  return { total, first: turnEnds[sample] - turnEnds[0], last: turnEnds[count - 1] - turnEnds[count - 1 - sample] };
}
