/**
 * Appending to the logs of a cluster against bare publishes to the same server, with as many in flight: one for each
 * session, as sessions write. The server syncs each message.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openNode } from "@tau/gateway/cluster";
import { getNatsServer } from "../scripts/get-nats-server.mjs";

const line = Buffer.from(`${JSON.stringify({ type: "message", id: "00000000", text: "word ".repeat(60) })}\n`);

export default async function bench(report) {
  const { path, missing } = getNatsServer();
  if (!path) return console.error(`Skipped: ${missing}.`);
  const directory = await mkdtemp(join(tmpdir(), "tau-bench-"));
  const port = await findPort();
  const config = join(directory, "nats.conf");
  const store = join(directory, "store");
  await writeFile(config, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${store}", sync_interval: always }\n`);
  const server = spawn(path, ["-c", config], { stdio: "ignore" });
  try {
    const node = await waitForNode(`nats://127.0.0.1:${port}?name=bench`, directory);
    const streams = await createBare(node);
    for (const window of [1, 100]) {
      const count = window === 1 ? 1_000 : 150;
      await appendAll(node, { window, count: count / 4, name: "warm" });
      await publishAll(node, streams, { window, count: count / 4, name: "warm" });
      let [ours, bare] = [0, 0];
      // In turns, so that a disk that is slow for a while is slow for both.
      const rounds = 4;
      for (let round = 0; round < rounds; round++) {
        bare += await publishAll(node, streams, { window, count, name: `round${round}` });
        ours += await appendAll(node, { window, count, name: `round${round}` });
      }
      const perSecond = (seconds) => (rounds * window * count) / seconds;
      report(`${window} sessions`, perSecond(ours), "appends a second");
      report(`${window} publishes in flight`, perSecond(bare), "bare publishes a second");
      report(`${window} in flight, appends of bare publishes`, (100 * bare) / ours, "percent");
    }
    await node.close();
  } finally {
    server.kill("SIGKILL");
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function waitForNode(url, agentDir) {
  for (let tries = 0; ; tries++) {
    try {
      return await openNode({ url, agentDir, log: () => undefined });
    } catch (error) {
      if (tries === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** As many streams as there are for logs. */
async function createBare({ bus }) {
  const { jetstreamManager } = await import("@nats-io/jetstream");
  const manager = await jetstreamManager(bus.nats);
  const names = Array.from({ length: 16 }, (_, index) => `bare-${index}`);
  for (const name of names) await manager.streams.add({ name, subjects: [`${name}.*`], storage: "file" });
  return names;
}

/** Seconds. The same subjects in the same distribution over streams as the logs have. */
async function publishAll({ bus }, streams, { window, count, name }) {
  const { jetstream } = await import("@nats-io/jetstream");
  const client = jetstream(bus.nats);
  const started = performance.now();
  await Promise.all(
    Array.from({ length: window }, async (_, index) => {
      const stream = createHash("sha256").update(`${name}-${window}-${index}`).digest()[0] % streams.length;
      const subject = `${streams[stream]}.${name}-${index}`;
      for (let turn = 0; turn < count; turn++) await client.publish(subject, line);
    }),
  );
  return (performance.now() - started) / 1_000;
}

async function appendAll({ storage }, { window, count, name }) {
  const stores = Array.from({ length: window }, (_, index) =>
    storage.createStore({ id: `${name}-${window}-${index}` }, "unique"),
  );
  await Promise.all(stores.map((store) => store.acquire()));
  const started = performance.now();
  await Promise.all(
    stores.map(async (store) => {
      let position = 0;
      for (let turn = 0; turn < count; turn++) {
        const outcome = await store.append(line, { position, sync: true });
        if (outcome.kind !== "appended") throw new Error(outcome.reason);
        ({ position } = outcome);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  await Promise.all(stores.map((store) => store.close()));
  return seconds;
}

async function findPort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
