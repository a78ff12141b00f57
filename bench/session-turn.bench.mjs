/**
 * Tool turns of one session with everything in it: pipeline, policy, translation, and the durable log in `turn` mode. A
 * long conversation must not make a turn dearer.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentSession, SessionManager, SettingsManager } from "@tau/harness";
import { cpuSince, echoTool, model, toolStream } from "./memory-model.mjs";

const turns = 200;
const sample = 20;

export default async function bench(report) {
  const directory = await mkdtemp(join(tmpdir(), "tau-bench-"));
  try {
    const rounds = [];
    for (let round = 0; round < 9; round++) rounds.push(await run(directory));
    const least = (part) => Math.min(...rounds.map((round) => round[part]));
    report("a turn in the first round of a process", rounds[0].total / turns / 1_000, "ms of CPU");
    report("a turn", least("total") / turns / 1_000, "ms of CPU");
    // Each the fastest of all rounds: twenty turns are short, and something else always happens in one of them.
    report(`the last ${sample} turns over the first ${sample}`, least("last") / least("first"), "times");
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function run(directory) {
  const session = await createAgentSession({
    cwd: directory,
    agentDir: join(directory, "agent"),
    model,
    customTools: [echoTool],
    streamFn: toolStream(turns),
    settingsManager: SettingsManager.inMemory({}),
    sessionManager: await SessionManager.create(directory, directory, { durability: "turn" }),
  });
  const marks = [];
  session.onEvent((event) => {
    if (event.type === "turn_end") marks.push(cpuSince(started));
  });
  const started = process.cpuUsage();
  await session.prompt("go");
  const total = cpuSince(started);
  if (session.messages.length !== 2 * turns + 2) throw new Error(`turns are missing: ${session.messages.length}`);
  await session.dispose();
  return { total, first: marks[sample] - marks[0], last: marks[turns - 1] - marks[turns - 1 - sample] };
}
