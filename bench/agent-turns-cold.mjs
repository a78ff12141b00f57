/** The first turns that a process takes, while V8 still compiles: prints what one cost, in µs of CPU. */
import { Agent } from "@tau/agent";
import { cpuSince, echoTool, model, toolStream } from "./memory-model.mjs";

const turns = Number(process.argv[2]);
const agent = new Agent({ initialState: { model, tools: [echoTool] }, streamFn: toolStream(turns) });
const started = process.cpuUsage();
await agent.prompt("go");
console.log(cpuSince(started) / turns);
