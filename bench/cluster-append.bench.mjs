/**
 * Appending to the logs of a cluster against bare publishes to the same server, with as many in flight: one for each
 * session, as sessions write. The server syncs each message. With TAU_LONG=1 also with three servers and three replicas,
 * which share this machine's processors.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openNode } from "@tau/cluster";
import { getNatsServer } from "../scripts/get-nats-server.mjs";

const line = Buffer.from(`${JSON.stringify({ type: "message", id: "00000000", text: "word ".repeat(60) })}\n`);

export default async function bench(report) {
  const { path, missing } = getNatsServer();
  if (!path) return console.error(`Skipped: ${missing}.`);
  await measure(path, 1, report);
  if (process.env.TAU_LONG !== "1") return;
  await measure(path, 3, (name, ...figure) => report(`${name}, three replicas`, ...figure));
}

/** Starts as many servers as there are replicas. */
async function measure(program, replicas, report) {
  const directory = await mkdtemp(join(tmpdir(), "tau-bench-"));
  const { hosts, servers } = await startServers(program, replicas, directory);
  try {
    const node = await waitForNode(`nats://${hosts.join(",")}?name=bench&replicas=${replicas}`, directory);
    const streams = await createBare(node, replicas);
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
    for (const server of servers) server.kill("SIGKILL");
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** On free ports, each with a directory of its own. */
async function startServers(program, count, directory) {
  const ports = await Promise.all(Array.from({ length: 2 * count }, findPort));
  const [clientPorts, routePorts] = [ports.slice(0, count), ports.slice(count)];
  const routes = routePorts.map((port) => `"nats://127.0.0.1:${port}"`).join(", ");
  const servers = [];
  for (const [index, port] of clientPorts.entries()) {
    const config = join(directory, `n${index}.conf`);
    const store = join(directory, `store${index}`);
    const cluster = `cluster { name: bench, listen: "127.0.0.1:${routePorts[index]}", routes: [${routes}] }\n`;
    const jetstream = `jetstream { store_dir: "${store}", sync_interval: always }\n`;
    const own = `server_name: n${index}\nlisten: "127.0.0.1:${port}"\n`;
    await writeFile(config, own + jetstream + (count > 1 ? cluster : ""));
    servers.push(spawn(program, ["-c", config], { stdio: "ignore" }));
  }
  return { hosts: clientPorts.map((port) => `127.0.0.1:${port}`), servers };
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

/** Creates as many streams as there are for logs. */
async function createBare({ bus }, replicas) {
  const { jetstreamManager } = await import("@nats-io/jetstream");
  const manager = await jetstreamManager(bus.nats);
  const names = Array.from({ length: 16 }, (_, index) => `bare-${index}`);
  const config = { storage: "file", num_replicas: replicas };
  for (const name of names) await manager.streams.add({ ...config, name, subjects: [`${name}.*`] });
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
