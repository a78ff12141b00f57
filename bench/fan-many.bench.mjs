/** A thousand tasks of five turns each, fifty at a time: what a turn of a child costs, and how much memory they need. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentSession, SettingsManager } from "@tau/harness";
import { allFeatures } from "@tau/features";
import { TaskFanout } from "@tau/features/agents";
import { answerOnce, model } from "./memory-model.mjs";

const tasks = 1_000;
const parallelism = 50;
const turns = 5;

export default async function bench(report) {
  const directory = await mkdtemp(join(tmpdir(), "tau-bench-"));
  try {
    const { session, requests } = await open(directory);
    const fanout = new TaskFanout(session);
    // V8 compiles what the first children need.
    await fanout.fanout(listTasks(parallelism), { parallelism });
    let peak = 0;
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 50);
    const before = requests.count;
    const started = process.cpuUsage();
    const results = await fanout.fanout(listTasks(tasks), { parallelism, merge: "all" });
    const { user, system } = process.cpuUsage(started);
    clearInterval(timer);
    if (results.some(({ success }) => !success)) throw new Error(results.find(({ error }) => error).error);
    report("a turn of a task", (user + system) / (requests.count - before) / 1_000, "ms of CPU (limit 2)");
    report("peak RSS", peak / 1024 / 1024, "MiB (limit 500)");
    report("the first request of a child", await measureFirstRequest(session, requests), "ms of CPU (limit 10)");
    await session.dispose();
  } finally {
    await rm(directory, { recursive: true });
  }
}

const listTasks = (count) =>
  Array.from({ length: count }, (_, index) => ({ id: `t${index}`, description: "count", prompt: "Count." }));

async function open(directory) {
  const requests = { count: 0, onRequest: () => {} };
  // Not the scripted model, which keeps a copy of every request: only the agents' own work is measured.
  const streamFn = (_model, { messages }) => {
    requests.count++;
    requests.onRequest();
    const asked = messages.filter(({ role }) => role === "assistant").length;
    return asked < turns - 1 ? answerOnce("toolUse", nextCall()) : answerOnce("stop", { type: "text", text: "Done." });
  };
  const session = await createAgentSession({
    cwd: directory,
    agentDir: join(directory, "agent"),
    model,
    streamFn,
    features: allFeatures,
    settingsManager: SettingsManager.inMemory({}),
  });
  return { session, requests };
}

let calls = 0;
const nextCall = () => ({ type: "toolCall", id: `call_${++calls}`, name: "ls", arguments: { path: "." } });

/** From the moment that a parent asks for a child until its request. The best of several, since it is short. */
async function measureFirstRequest(session, requests) {
  const figures = [];
  for (let round = 0; round < 20; round++) {
    const started = process.cpuUsage();
    requests.onRequest = () => {
      const { user, system } = process.cpuUsage(started);
      figures.push((user + system) / 1_000);
      requests.onRequest = () => {};
    };
    const child = await session.openChild({ name: "child" });
    await child.prompt("Count.");
    await child.dispose();
  }
  return Math.min(...figures);
}
