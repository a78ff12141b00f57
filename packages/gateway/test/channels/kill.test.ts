import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { expect, onTestFinished, test } from "vitest";
import { buildChild } from "../fixtures/child.ts";
import { type ChannelRecord, ChannelTable } from "../../src/channels/records.ts";

const toPath = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const isLong = process.env["TAU_LONG"] !== undefined;
const [messageCount, killCount] = isLong ? [2_000, 50] : [40, 4];

const readLines = async (path: string): Promise<string[]> =>
  (await readFile(path, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");

test(
  "every message is answered once, in order, however often the gateway is killed",
  { timeout: 3_600_000 },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "tau-channel-kill-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const [agentDir, platform] = [join(directory, "agent"), join(directory, "platform")];
    await mkdir(join(agentDir, "gateway"), { recursive: true, mode: 0o700 });
    await mkdir(platform);
    const peers = ["p0", "p1", "p2", "p3"].map((id) => ({ accountId: "platform", id, name: id, pairedAt: 1 }));
    await writeFile(join(agentDir, "gateway", "channel-peers.json"), JSON.stringify({ peers, codes: [] }), {
      mode: 0o600,
    });
    const program = join(directory, "gateway-child.mjs");
    await buildChild(toPath("gateway-child.ts"), program);
    let child: ChildProcess;
    onTestFinished(() => void child.kill("SIGKILL"));
    const start = async () => {
      const args = [toPath("platform.mjs"), platform, String(messageCount)];
      const channels = { platform: { type: "stdio", command: process.execPath, args } };
      child = spawn(process.execPath, [program, agentDir, JSON.stringify(channels)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout!, "data");
    };
    const readSent = async () =>
      (await readLines(join(platform, "sent"))).map((line) => JSON.parse(line) as [string, string]);
    for (let kills = 0; kills < killCount; kills++) {
      const before = (await readSent()).length;
      await start();
      // Killed while it works: after some more answers, at a moment that nobody chose.
      await expect
        .poll(async () => (await readSent()).length, { timeout: 300_000, interval: 5 })
        .toBeGreaterThan(before + 2);
      child!.kill("SIGKILL");
      await once(child!, "exit");
    }
    await start();
    /** Messages without an answer, except for those whose answer is known to be uncertain. */
    const listLost = async () => {
      const table = new ChannelTable();
      for (const line of await readLines(join(agentDir, "gateway", "channels.jsonl"))) {
        const record = tryParseJson(line);
        if (isRecord(record)) table.take(record as ChannelRecord);
      }
      const uncertain = [...table.replies()].filter(({ state }) => state === "uncertain").map(({ text }) => text);
      const known = new Set([...(await readSent()).map(([, text]) => text), ...uncertain].flatMap(toNumbers));
      return Array.from({ length: messageCount }, (_, index) => index).filter((index) => !known.has(index));
    };
    await expect.poll(listLost, { timeout: 1_800_000, interval: 100 }).toEqual([]);
    child!.kill("SIGKILL");
    await once(child!, "exit");
    for (const { id } of peers) {
      const order = (await readSent()).filter(([channelId]) => channelId === id).flatMap(([, text]) => toNumbers(text));
      // Nobody gets an answer twice, or before the answer to an earlier message.
      expect(order).toEqual([...new Set(order)].toSorted((a, b) => a - b));
    }
  },
);

/** The messages that an answer is for. */
const toNumbers = (text: string): number[] => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));
