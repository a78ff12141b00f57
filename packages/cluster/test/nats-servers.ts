/** NATS servers of a test: processes on loopback, each with a directory of its own, that can be killed, stopped and wiped. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { vi } from "vitest";
import { openProxy, type TcpProxy } from "./tcp-proxy.ts";

const script = join(import.meta.dirname, "../../../scripts/get-nats-server.mjs");
const { status, stdout } = spawnSync(process.execPath, [script], { encoding: "utf8" });
const program = stdout.trim();

/** Tests that need the server are skipped where it cannot be had, and say so. */
export const hasNats = status === 0;
if (!hasNats) process.stderr.write(`The tests of the cluster are skipped. ${program}\n`);

export interface NatsServer {
  readonly name: string;
  readonly port: number;
  readonly url: string;
  start(): Promise<void>;
  /** At once, without a chance to write. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Removes what it has stored. It must not be running. */
  wipe(): Promise<void>;
  /** Cuts it from the other servers, but not from its clients. */
  isolate(): void;
  rejoin(): void;
}

export interface NatsServers {
  readonly servers: readonly NatsServer[];
  readonly directory: string;
  close(): Promise<void>;
}

/** Another program may take a port after it was found to be free, and new servers do not always find each other. */
const maxStarts = 3;

/** Starts a server, or several that replicate. `extra` is put into the configuration. */
export async function startNats({ count = 1, extra = "" } = {}): Promise<NatsServers> {
  for (let starts = 1; ; starts++) {
    try {
      return await startOnce(count, extra);
    } catch (error) {
      if (starts === maxStarts) throw error;
    }
  }
}

async function startOnce(count: number, extra: string): Promise<NatsServers> {
  const directory = await mkdtemp(join(tmpdir(), "tau-nats-"));
  const ports = await findPorts(2 * count + 1);
  const indexes = ports.slice(0, count).map((_port, index) => index);
  const routePorts = ports.slice(count);
  /** From each server to each other. */
  const cables = await Promise.all(
    indexes.map((from) => Promise.all(indexes.map((to) => (from === to ? undefined : openProxy(routePorts[to]!))))),
  );
  const servers = await Promise.all(
    indexes.map((index) =>
      createNats({
        directory,
        name: `n${index}`,
        port: ports[index]!,
        routePort: routePorts[index]!,
        // Others hear of this address, which does not answer, so that they use only the cables.
        advertise: `127.0.0.1:${routePorts[count]}`,
        routes: cables[index]!.flatMap((cable) => (cable ? [cable.port] : [])),
        cables: [...cables[index]!, ...cables.map((row) => row[index])].filter((cable) => cable !== undefined),
        extra,
      }),
    ),
  );
  const close = async () => {
    for (const server of servers) server.resume();
    await Promise.all(servers.map((server) => server.kill()));
    await Promise.all(cables.flat().map((cable) => cable?.close()));
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await Promise.all(servers.map((server) => server.start()));
    if (count > 1) await waitForReplication(servers);
  } catch (error) {
    await close();
    throw error;
  }
  return { servers, directory, close };
}

interface NatsServerOptions {
  directory: string;
  name: string;
  port: number;
  routePort: number;
  advertise: string;
  /** Ports of the cables to the others. */
  routes: number[];
  /** From and to the others. */
  cables: TcpProxy[];
  extra: string;
}

async function createNats(options: NatsServerOptions): Promise<NatsServer> {
  const { directory, name, port, routePort, advertise, routes, cables, extra } = options;
  const store = join(directory, name);
  const config = join(directory, `${name}.conf`);
  const output = join(directory, `${name}.log`);
  const cluster =
    routes.length === 0
      ? ""
      : `cluster { name: tau, listen: "127.0.0.1:${routePort}", no_advertise: true, advertise: "${advertise}", ` +
        `routes: [${routes.map((route) => `"nats://127.0.0.1:${route}"`).join(", ")}] }`;
  await writeFile(
    config,
    `server_name: ${name}\nlisten: "127.0.0.1:${port}"\nlog_file: "${output}"\n` +
      `jetstream { store_dir: "${store}", sync_interval: always, max_memory_store: 64MB, max_file_store: 1GB }\n${cluster}\n${extra}\n`,
  );
  const readLog = () => readFile(output, "utf8").catch(() => "");
  const signs = ["Server is ready", ...(routes.length === 0 ? [] : ["Listening for route connections"])];
  let child: ChildProcess | undefined;
  const url = `nats://127.0.0.1:${port}`;
  return {
    name,
    port,
    url,
    async start() {
      const started = spawn(program, ["-c", config], { stdio: "ignore" });
      child = started;
      await waitUntil(async () => {
        if (started.exitCode !== null) throw new Error(`The NATS server ${name} ended: ${await readLog()}`);
        const log = await readLog();
        return signs.every((sign) => log.includes(sign));
      });
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
      await rm(output, { force: true });
    },
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    wipe: () => rm(store, { recursive: true, force: true, maxRetries: 5 }),
    isolate: () => cables.forEach((cable) => cable.cut()),
    rejoin: () => cables.forEach((cable) => cable.heal()),
  };
}

/** Ports that are free now. */
async function findPorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

export const waitUntil = (isDone: () => boolean | Promise<boolean>): Promise<unknown> =>
  vi.waitUntil(isDone, { timeout: 60_000, interval: 20 });

/** Waits until the servers have elected a leader and all of them take the replicas of a stream. */
async function waitForReplication([first, ...others]: readonly NatsServer[]): Promise<void> {
  const nats = await connect({ servers: first!.url, waitOnFirstConnect: true, reconnectTimeWait: 100 });
  try {
    const manager = await jetstreamManager(nats, { timeout: 1_000, checkAPI: false });
    const probe = { name: "probe", subjects: ["probe"], num_replicas: others.length + 1 };
    const attempt = async () => {
      try {
        await manager.streams.add(probe);
        return await manager.streams.delete(probe.name);
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        return false;
      }
    };
    await vi.waitUntil(attempt, { timeout: 30_000, interval: 100 });
  } finally {
    await nats.close();
  }
}
