/** Two gateways of a cluster with the same account: one of them connects it, and the other one takes it over. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { connectRaw, type RawClient } from "@tau/gateway/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildChild } from "../../gateway/test/fixtures/child.ts";
import { ChannelLog } from "../src/channel-log.ts";
import { openNode } from "../src/open-node.ts";
import { hasNats, startNats } from "./nats-servers.ts";

const isLong = process.env["TAU_LONG"] === "1";
const messageCount = isLong ? 1_000 : 40;
const rounds = isLong ? 20 : 3;
/** On a calm machine the account is taken over within 30 seconds; on a busy one the nodes alone take longer to start. */
const maxWaitMs = 180_000;
const people = ["p0", "p1", "p2", "p3"];
const platform = join(import.meta.dirname, "../../gateway/test/channels/platform.mjs");

const toNumbers = (text: string): number[] => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));

interface NodeProcess {
  readonly child: ChildProcess;
  readonly client: RawClient;
}

describe.skipIf(!hasNats)("an account that two gateways of a cluster have", () => {
  test(
    "is connected by one of them at a time, and no message is answered twice, whatever happens to it",
    { timeout: isLong ? 3_600_000 : 900_000 },
    async () => {
      const nats = await startNats();
      onTestFinished(nats.close);
      const directory = await mkdtemp(join(tmpdir(), "tau-cluster-channels-"));
      const children = new Set<ChildProcess>();
      onTestFinished(async () => {
        for (const child of children) child.kill("SIGKILL");
        await rm(directory, { recursive: true, force: true, maxRetries: 10 });
      });
      const program = join(directory, "node.mjs");
      await Promise.all([
        buildChild(join(import.meta.dirname, "channel-node.ts"), program),
        mkdir(join(directory, "platform")),
      ]);
      const address = `nats://127.0.0.1:${nats.servers[0]!.port}`;

      // A node without accounts reads what the others share.
      const reader = await openNode({ url: `${address}?name=reader`, agentDir: join(directory, "r"), log: () => {} });
      const shared = new ChannelLog({ ...reader, clock: systemClock, ids: systemIds, log: () => {} });
      onTestFinished(async () => {
        await shared.close();
        await reader.close();
      });
      const peers = people.map((id) => ({ accountId: "platform", id, name: id, pairedAt: 1 }));
      await shared.append({ type: "peers", peers: { peers, codes: [] } });

      const start = async (name: string): Promise<NodeProcess> => {
        const args = [join(directory, name), `${address}?name=${name}`, join(directory, "platform")];
        const child = spawn(process.execPath, [program, ...args, String(messageCount), platform], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        children.add(child);
        const [line] = (await once(child.stdout!, "data")) as [Buffer];
        const { url, token } = JSON.parse(line.toString()) as { url: string; token: string };
        return { child, client: await connectRaw(url, { token }) };
      };
      const readSent = async () =>
        (await readFile(join(directory, "platform", "sent"), "utf8").catch(() => ""))
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line) as [string, string]);
      const hasAccount = async ({ client }: NodeProcess) => {
        const { channels } = await client.must<{ channels: { state: string }[] }>("channels.list");
        return channels[0]!.state === "connected";
      };
      const nodes = [await start("one"), await start("two")];
      let maxMs = 0;
      for (let round = 0; round < rounds; round++) {
        const before = (await readSent()).length;
        const beganMs = performance.now();
        // More answers than before: somebody has the account.
        await expect.poll(async () => (await readSent()).length, { timeout: maxWaitMs }).toBeGreaterThan(before + 4);
        if (round > 0) maxMs = Math.max(maxMs, performance.now() - beganMs);
        const owns = await Promise.all(nodes.map(hasAccount));
        expect(owns.filter(Boolean).length).toBeLessThanOrEqual(1);
        const { channels } = await nodes[owns.indexOf(false)]!.client.must<{ channels: object[] }>("channels.list");
        expect(channels[0]).not.toMatchObject({ state: "off" });
        const index = Math.max(0, owns.indexOf(true));
        const { child } = nodes[index]!;
        if (round % 3 === 1) {
          // It finds out only afterwards that another node has the account.
          child.kill("SIGSTOP");
          await expect.poll(() => hasAccount(nodes[1 - index]!), { timeout: maxWaitMs }).toBe(true);
          child.kill("SIGCONT");
          continue;
        }
        child.kill(round % 3 === 0 ? "SIGKILL" : "SIGTERM");
        await once(child, "exit");
        children.delete(child);
        nodes[index] = await start(["one", "two"][index]!);
      }
      if (isLong) console.log(JSON.stringify({ maxMs: Math.round(maxMs) }));
      const listMissing = async () => {
        await shared.refresh();
        const uncertain = [...shared.table.replies()].filter(({ state }) => state === "uncertain");
        const sent = (await readSent()).map(([, text]) => text);
        const known = new Set([...sent, ...uncertain.map(({ text }) => text)].flatMap(toNumbers));
        return Array.from({ length: messageCount }, (_, number) => number).filter((number) => !known.has(number));
      };
      await expect.poll(listMissing, { timeout: 240_000, interval: 200 }).toEqual([]);
      // Nobody reads what became of the nodes.
      const others = (await readSent()).map(([, text]) => text).filter((text) => !/^answer(?: \d+)+$/.test(text));
      const { messages } = await nodes[0]!.client.must<{ messages: object[] }>("inbox.list", { state: "dead" });
      expect({ others, givenUp: messages }).toEqual({ others: [], givenUp: [] });
      for (const id of people) {
        const order = (await readSent()).filter(([to]) => to === id).flatMap(([, text]) => toNumbers(text));
        // Nobody gets an answer twice, or before the answer to an earlier message.
        expect(order).toEqual([...new Set(order)].toSorted((a, b) => a - b));
      }
    },
  );
});
