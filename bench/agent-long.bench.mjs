/**
 * Measures a run of 20,000 turns, whose context is compacted again and again: a turn at the end must cost what it cost
 * at the beginning, because its request is as long. A sample has many compactions, so that each has its share of them.
 */
import { tmpdir } from "node:os";
import { createAgentSession, SessionManager, SettingsManager } from "@tau/harness";
import { cpuSince, echoTool, model, textStream, toolStream } from "./memory-model.mjs";

const turns = Number(process.env.BENCH_TURNS ?? 20_000);
const sample = 1_000;
const samples = 5;
const text = "word ".repeat(80);

export default async function bench(report) {
  const callTool = toolStream(turns);
  const summarise = textStream(20);
  const session = await createAgentSession({
    cwd: tmpdir(),
    agentDir: tmpdir(),
    model: { ...model, contextWindow: 12_000, maxTokens: 1_000 },
    tools: [],
    customTools: [{ ...echoTool, execute: async () => ({ content: [{ type: "text", text }], details: {} }) }],
    // A summary is asked for without tools.
    streamFn: (_model, { tools = [] }) => (tools.length > 0 ? callTool() : summarise()),
    settingsManager: SettingsManager.inMemory({ compaction: { reserveTokens: 2_000, keepRecentTokens: 2_000 } }),
    sessionManager: await SessionManager.inMemory(tmpdir()),
  });
  const marks = [];
  let compactions = 0;
  session.onSessionEvent((event) => {
    if (event.type === "turn_end") marks.push(cpuSince(started));
    if (event.type === "compaction_end") compactions++;
  });
  const started = process.cpuUsage();
  await session.prompt("go");
  await session.dispose();
  if (marks.length < turns || compactions < (5 * turns) / sample) throw new Error("turns or compactions are missing");
  // Each sample is divided, and the fastest part is used: other work on the machine disturbs some of them.
  const getFastest = (from) => {
    const length = sample / samples;
    const parts = Array.from({ length: samples }, (_unused, part) => from + part * length);
    return Math.min(...parts.map((start) => marks[start + length] - marks[start])) / length;
  };
  const [first, last] = [getFastest(100), getFastest(turns - sample - 1)];
  report("a turn after 100 turns", first, "µs of CPU");
  report(`a turn after ${turns - sample} turns`, last, "µs of CPU");
  report("the last over the first", last / first, "times (at most 1.5)");
  report("compactions", compactions, "");
}
