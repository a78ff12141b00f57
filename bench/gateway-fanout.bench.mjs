/** Measures one event to 5,000 clients, beside a bare `ws` server that sends the same bytes to as many. */
import { once } from "node:events";
import { WebSocketServer } from "ws";
import { getMedian, openBenchGateway, startClients } from "./gateway-server.mjs";
import { cpuSince } from "./memory-model.mjs";

const clients = 5_000;
const rounds = 30;
const words = "A sentence of the answer, as long as a few tokens are.";

export default async function bench(report) {
  const bare = await openBare();
  const gateway = await openGateway();
  // In turns, so that both meet the same machine.
  const [bareRounds, gatewayRounds] = [[], []];
  for (let round = 0; round < rounds; round++) {
    bareRounds.push(await measure(bare));
    gatewayRounds.push(await measure(gateway));
  }
  const [bareCpu, gatewayCpu] = [bareRounds, gatewayRounds].map((all) => getMedian(all.map(({ cpu }) => cpu)));
  const [bareMs, gatewayMs] = [bareRounds, gatewayRounds].map((all) => getMedian(all.map(({ wallMs }) => wallMs)));
  report("bare ws", bareCpu / 1_000, "ms of CPU for an event");
  report("gateway", gatewayCpu / 1_000, "ms of CPU for an event");
  report("share of bare ws", (bareCpu / gatewayCpu) * 100, "%");
  report("bare ws, until all have it", bareMs, "ms");
  report("gateway, until all have it", gatewayMs, "ms");
  await bare.close();
  await gateway.close();
}

async function measure({ clients: connected, send }) {
  const cpu = process.cpuUsage();
  const started = performance.now();
  send();
  await connected.getNext();
  return { cpu: cpuSince(cpu), wallMs: performance.now() - started };
}

async function openBare() {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  await once(server, "listening");
  const connected = await startClients({ url: `ws://127.0.0.1:${server.address().port}`, count: clients });
  const payload = { sessionId: "0".repeat(36), code: "test", message: words, eventType: "notice" };
  let seq = 0;
  return {
    clients: connected,
    send() {
      const frame = {
        type: "event",
        event: "session.notice",
        payload,
        seq: ++seq,
        epoch: "0".repeat(36),
        stateVersion: 1,
      };
      const bytes = Buffer.from(JSON.stringify(frame));
      for (const client of server.clients) client.send(bytes, { binary: false });
    },
    async close() {
      await connected.close();
      server.close();
    },
  };
}

async function openGateway() {
  const { url, token, create, close } = await openBenchGateway();
  const { session } = await create();
  const connected = await startClients({ url, token, sessionId: session.sessionId, count: clients });
  return {
    clients: connected,
    send: () => session.notify("test", words),
    async close() {
      await connected.close();
      await close();
    },
  };
}
