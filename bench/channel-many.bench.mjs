/** 2,000 conversations of a channel: what a message costs until it waits for its turn, what a whole answer costs, and the memory. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { scriptedModel, text } from "@tau/ai/testing";
import { openTestGateway } from "@tau/gateway/testing";
import { getPercentile } from "./gateway-server.mjs";

const count = 2_000;

export default async function bench(report) {
  let release = () => {};
  const released = new Promise((resolve) => (release = resolve));
  let isBlocked = false;
  const answer = async () => {
    if (isBlocked) await released;
    return [text("Hello.")];
  };
  const channel = createChannel();
  const directory = await mkdtemp(join(tmpdir(), "tau-channel-many-"));
  const agentDir = join(directory, "agent");
  await letIn(agentDir);
  const { close } = await openTestGateway({
    model: scriptedModel(Array.from({ length: 3 * count }, () => answer)),
    settings: {
      gateway: { queue: { mode: "followup" }, idleCloseMs: 3_600_000, channels: { chat: { type: "bench" } } },
    },
    options: { agentDir, channelTypes: { bench: async () => ({ secrets: {}, open: async () => channel }) } },
    params: { agentDir },
  });
  try {
    while (!channel.isOpen) await sleep(10);
    const before = process.memoryUsage.rss();
    const began = process.cpuUsage();
    for (let index = 0; index < count; index++) await channel.receive(index);
    await channel.whenSent(count);
    report("a first message with its session and its answer", toMs(began) / count, "ms of CPU");
    const answered = process.cpuUsage();
    for (let index = 0; index < count; index++) await channel.receive(index);
    await channel.whenSent(2 * count);
    report("a message with its answer", toMs(answered) / count, "ms of CPU");
    report("RSS with all conversations", process.memoryUsage.rss() / 1024 / 1024, "MiB");
    report("a conversation", (process.memoryUsage.rss() - before) / 1024 / count, "KiB of RSS");
    // The runs of the first conversations keep all lanes, so that nothing but messages is measured.
    isBlocked = true;
    for (let index = 0; index < 50; index++) await channel.receive(index);
    await sleep(1_000);
    const [waited, latencies] = [process.cpuUsage(), []];
    for (let index = 50; index < count; index++) {
      const startedAt = performance.now();
      await channel.receive(index);
      latencies.push(performance.now() - startedAt);
    }
    report("a message until it is on the disk and waits for its lane", toMs(waited) / latencies.length, "ms of CPU");
    report("the same, median", getPercentile(latencies, 0.5), "ms");
    report("the same, p99", getPercentile(latencies, 0.99), "ms");
    report("RSS while all wait", process.memoryUsage.rss() / 1024 / 1024, "MiB");
    release();
    await channel.whenSent(3 * count);
  } finally {
    release();
    await close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Writes down that everybody may write. */
async function letIn(agentDir) {
  const peers = Array.from({ length: count }, (_unused, index) => {
    const id = `p${index}`;
    return { accountId: "chat", id, name: id, pairedAt: 1 };
  });
  await mkdir(join(agentDir, "gateway"), { recursive: true, mode: 0o700 });
  const path = join(agentDir, "gateway", "channel-peers.json");
  await writeFile(path, JSON.stringify({ peers, codes: [] }), { mode: 0o600 });
}

const toMs = (since) => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
};

/** A platform without a network. */
function createChannel() {
  let [events, sent, received] = [undefined, 0, 0];
  return {
    limits: { maxTextLength: 4_000, maxFileBytes: 1_000, provesNonce: false },
    get isOpen() {
      return events !== undefined;
    },
    async run(given, signal) {
      events = given;
      events.onState({ kind: "connected" });
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
    async send() {
      return { kind: "sent", messageId: `s${++sent}` };
    },
    async receive(index) {
      const id = `p${index}`;
      await events.onMessage({
        id: `m${++received}`,
        address: { channelId: id },
        peer: { kind: "direct", id },
        sender: { id, name: id },
        text: "Hello?",
        isMentioned: false,
      });
    },
    async whenSent(wanted) {
      while (sent < wanted) await sleep(20);
    },
  };
}
