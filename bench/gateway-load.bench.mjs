/** 1,000 idle sessions and 200 that stream, each followed by a client: the event loop must stay free, and memory small. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { scriptedModel, text } from "@tau/ai/testing";
import { openBenchGateway } from "./gateway-server.mjs";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const idle = 1_000;
const streaming = 200;
const perSecond = 50;
const seconds = 20;

export default async function bench(report) {
  const words = Array.from({ length: perSecond * seconds }, (_unused, index) => `word${index % 10} `).join("");
  const model = scriptedModel(
    Array.from({ length: streaming }, () => [text(words)]),
    { tokensPerSecond: perSecond },
  );
  const settings = { gateway: { lanes: { global: streaming }, devices: { maxOpenSessions: 10_000 } } };
  const { url, token, client, create, close } = await openBenchGateway({ model, settings });
  try {
    const before = process.memoryUsage.rss();
    for (let index = 0; index < idle; index++) await create();
    const withIdle = process.memoryUsage.rss();
    const ids = [];
    const hosted = [];
    for (let index = 0; index < streaming; index++) hosted.push(await create());
    for (const { session } of hosted) ids.push(session.sessionId);
    const child = fork(join(import.meta.dirname, "gateway-followers.mjs"), { stdio: "inherit" });
    child.send({ url, token, ids });
    await once(child, "message");
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const cpu = process.cpuUsage();
    const started = performance.now();
    let peak = 0;
    const watching = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 100);
    const runs = Promise.all(
      ids.map((sessionId) => client.must("session.execute", { sessionId, prompt: "Tell me a story." })),
    );
    const { perEvent, rate } = await measureSteady(hosted);
    await runs;
    const { user, system } = process.cpuUsage(cpu);
    const wallMs = performance.now() - started;
    clearInterval(watching);
    delay.disable();
    child.send("count");
    const [{ deltas, isWhole }] = await once(child, "message");
    child.kill("SIGKILL");
    report("deltas that clients got", deltas, "");
    report("clients without a gap", isWhole ? streaming : 0, "");
    report("rate while all stream", rate, "deltas per second and session (50 are asked for)");
    report(
      "rate",
      deltas / streaming / (wallMs / 1_000),
      "deltas per second and session, with what begins and ends a run",
    );
    report("event loop delay, p99", delay.percentile(99) / 1e6 - 5, "ms");
    report("RSS", peak / 1024 / 1024, "MiB");
    report("an idle session", (withIdle - before) / 1024 / idle, "KiB of RSS");
    report("a delta, with what begins and ends a run", (user + system) / deltas, "µs of CPU");
    report("an event while all stream", perEvent, "µs of CPU");
    report("CPU for all at full rate", (perEvent * streaming * perSecond) / 1e4, "% of a core");
  } finally {
    await close();
  }
}

/** While all stream. Does not depend on who else uses the machine, as the delay of the event loop does. */
async function measureSteady(hosted) {
  while (hosted.some(({ view }) => !view.live.message)) await sleep(100);
  const countEvents = () => hosted.reduce((sum, { position }) => sum + position.seq, 0);
  const [cpu, before, started] = [process.cpuUsage(), countEvents(), performance.now()];
  await sleep(3_000);
  const { user, system } = process.cpuUsage(cpu);
  const events = countEvents() - before;
  return { perEvent: (user + system) / events, rate: events / streaming / ((performance.now() - started) / 1_000) };
}
