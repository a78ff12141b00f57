/** 1,000 idle sessions and 200 that stream, each followed by a client: the event loop must stay free, and memory small. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { scriptedModel, text } from "@tau/ai/testing";
import { openBenchGateway } from "./gateway-server.mjs";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const idle = 1_000;
const streaming = 200;
const perSecond = 50;
const seconds = 10;

export default async function bench(report) {
  const words = Array.from({ length: perSecond * seconds }, (_unused, index) => `word${index % 10} `).join("");
  const model = scriptedModel(
    Array.from({ length: streaming }, () => [text(words)]),
    { tokensPerSecond: perSecond },
  );
  const { url, token, client, create, close } = await openBenchGateway({ model });
  try {
    const before = process.memoryUsage.rss();
    for (let index = 0; index < idle; index++) await create();
    const withIdle = process.memoryUsage.rss();
    const ids = [];
    for (let index = 0; index < streaming; index++) ids.push((await create()).session.sessionId);
    const child = fork(join(import.meta.dirname, "gateway-followers.mjs"), { stdio: "inherit" });
    child.send({ url, token, ids });
    await once(child, "message");
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const cpu = process.cpuUsage();
    const started = performance.now();
    let peak = 0;
    const watching = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 100);
    await Promise.all(
      ids.map((sessionId) => client.must("session.execute", { sessionId, prompt: "Tell me a story." })),
    );
    const { user, system } = process.cpuUsage(cpu);
    const wallMs = performance.now() - started;
    clearInterval(watching);
    delay.disable();
    child.send("count");
    const [{ deltas, isWhole }] = await once(child, "message");
    child.kill("SIGKILL");
    report("deltas that clients got", deltas, "");
    report("clients without a gap", isWhole ? streaming : 0, "");
    report("rate", deltas / streaming / (wallMs / 1_000), "deltas per second and session");
    report("event loop delay, p99", delay.percentile(99) / 1e6 - 5, "ms");
    report("RSS", peak / 1024 / 1024, "MiB");
    report("an idle session", (withIdle - before) / 1024 / idle, "KiB of RSS");
    report("a delta", (user + system) / deltas, "µs of CPU");
  } finally {
    await close();
  }
}
