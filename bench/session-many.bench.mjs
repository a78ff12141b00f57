/** A hundred sessions that stream at once: the event loop must stay free for everybody, and memory small. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentSession, SessionManager, SettingsManager } from "@tau/harness";
import { scriptedModel, text } from "@tau/ai/testing";

const sessions = 100;
const perSecond = 50;
const seconds = 10;

export default async function bench(report) {
  const directory = await mkdtemp(join(tmpdir(), "tau-bench-"));
  try {
    const opened = [];
    for (let at = 0; at < sessions; at++) opened.push(await open(directory));
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const started = process.cpuUsage();
    await Promise.all(opened.map(({ session }) => session.prompt("Tell me a long story.")));
    const { user, system } = process.cpuUsage(started);
    delay.disable();
    const rss = process.memoryUsage.rss();
    const deltas = opened.reduce((sum, { count }) => sum + count(), 0);
    for (const { session } of opened) await session.dispose();
    report("deltas", deltas / sessions, "for each session");
    report("event loop delay, p99", delay.percentile(99) / 1e6 - 5, "ms");
    report("RSS", rss / 1024 / 1024, "MiB");
    report("a delta", (user + system) / deltas, "µs of CPU");
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function open(directory) {
  const words = Array.from({ length: perSecond * seconds }, (_, at) => `word${at}`).join(" ");
  const model = scriptedModel([[text(words)]], { tokensPerSecond: perSecond });
  const session = await createAgentSession({
    cwd: directory,
    agentDir: join(directory, "agent"),
    model,
    settingsManager: SettingsManager.inMemory({}),
    sessionManager: await SessionManager.create(directory, directory, { durability: "turn" }),
  });
  let deltas = 0;
  session.onEvent((event) => {
    if (event.type === "text_delta") deltas++;
  });
  return { session, count: () => deltas };
}
