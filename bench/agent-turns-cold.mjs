/** Runs turns in a new process, while V8 still compiles, and prints the CPU time of one in µs. */
import { Agent } from "@tau/agent";
import { cpuSince, echoTool, model, toolStream } from "./memory-model.mjs";

const turns = Number(process.argv[2]);
const agent = new Agent({ initialState: { model, tools: [echoTool] }, streamFn: toolStream(turns) });
const started = process.cpuUsage();
await agent.prompt("go");
console.log(cpuSince(started) / turns);
