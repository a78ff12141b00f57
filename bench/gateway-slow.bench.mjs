/** 500 clients that do not read, beside 50 that do: memory must stay bounded, and the others must not notice. */
import { getPercentile, openBenchGateway, startClients } from "./gateway-server.mjs";

const stalled = 500;
const reading = 50;
const rounds = 200;
const bytes = 4 * 1024;

export default async function bench(report) {
  const { url, token, create, close, gateway } = await openBenchGateway();
  try {
    const { session } = await create();
    const { sessionId } = session;
    const others = await startClients({ url, token, sessionId, count: reading });
    const alone = await measure(session, others);
    const before = process.memoryUsage.rss();
    const slow = await startClients({ url, token, sessionId, count: stalled, isStalled: true });
    // What the system takes for each connection is not ours; after that it waits here.
    await fill(session, others);
    const beside = await measure(session, others);
    const after = process.memoryUsage.rss();
    const waiting = gateway.parts.connections.list().filter(({ bufferedBytes }) => bufferedBytes > 0);
    report("clients that something waits for", waiting.length, "");
    report("waiting for one client, at most", Math.max(0, ...waiting.map((each) => each.bufferedBytes)) / 1024, "KiB");
    report("others alone, p50", getPercentile(alone, 0.5), "ms");
    report("others beside stalled clients, p50", getPercentile(beside, 0.5), "ms");
    report("others alone, p99", getPercentile(alone, 0.99), "ms");
    report("others beside stalled clients, p99", getPercentile(beside, 0.99), "ms");
    report("growth of RSS while they stall", (after - before) / 1024 / 1024, "MiB");
    report("RSS", after / 1024 / 1024, "MiB");
    await slow.close();
    await others.close();
  } finally {
    await close();
  }
}

/** How long it takes until all that read have an event. */
async function measure(session, others) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    session.notify("test", "x".repeat(bytes));
    await others.getNext();
    times.push(performance.now() - started);
  }
  return times;
}

/** Sends one notice at a time, so that those who read keep up. */
async function fill(session, others) {
  for (let each = 0; each < 100; each++) {
    session.notify("test", "y".repeat(64 * 1024));
    await others.getNext();
  }
}
