/** A gateway for benchmarks: a scripted model, and no limits on how fast clients come. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { connectRaw, openTestGateway } from "@tau/gateway/testing";

export async function openBenchGateway(options = {}) {
  const serverLimits = {
    connectsPerSecond: 1e6,
    connectBurst: 1e6,
    maxUnknownSockets: 1e6,
    maxUnknownSocketsPerAddress: 1e6,
    maxConnections: 1e6,
  };
  const opened = await openTestGateway({ ...options, options: { serverLimits, ...options.options } });
  const { url, parts } = opened.gateway;
  const client = await connectRaw(url, { token: opened.token });
  const create = async () => {
    const { sessionId } = await client.must("sessions.create", { cwd: opened.workspace });
    return parts.sessions.find(sessionId).hosted;
  };
  return { ...opened, url, client, create };
}

/** Clients in another process. `getNext()` resolves when each has got one message more than the last time. */
export async function startClients(given) {
  const child = fork(join(import.meta.dirname, "gateway-clients.mjs"), { stdio: "inherit" });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`The clients ended with ${code}.`);
  });
  ended.catch(() => {});
  const answer = () => Promise.race([once(child, "message"), ended]);
  child.send(given);
  await answer();
  let count = 0;
  return {
    async getNext() {
      child.send(++count);
      await answer();
    },
    async close() {
      child.kill("SIGKILL");
      await ended.catch(() => {});
    },
  };
}

export const getMedian = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

export const getPercentile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
