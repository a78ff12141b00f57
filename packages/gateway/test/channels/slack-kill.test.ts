import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { expect, onTestFinished, test } from "vitest";
import { type ChannelRecord, ChannelTable } from "../../src/channels/records.ts";
import { buildChild } from "../fixtures/child.ts";
import { type BadDay, SlackPeople, toNumbers } from "./slack-people.ts";
import { SlackServer, slackTokens } from "./slack-server.ts";

const isLong = process.env["TAU_LONG"] !== undefined;
const seed = Number(process.env["SEED"]) || 263;
const day: BadDay = isLong
  ? { messageCount: 10_000, conversationCount: 48, disconnectCount: 30, seed }
  : { messageCount: 90, conversationCount: 6, disconnectCount: 2, seed };
// More kills leave more uncertain replies than the gateway keeps.
const killCount = isLong ? 25 : 2;

test(
  `every message of a bad day at Slack is answered once, in order, also by a gateway that is killed (seed ${seed})`,
  { timeout: 3_600_000 },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "tau-slack-kill-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const server = new SlackServer();
    onTestFinished(() => server.close());
    const baseUrl = await server.listen();
    const people = new SlackPeople(server, day);
    const agentDir = join(directory, "agent");
    await prepare(agentDir, people);
    const program = join(directory, "gateway-child.mjs");
    await buildChild(fileURLToPath(new URL("gateway-child.ts", import.meta.url)), program);
    let child: ChildProcess;
    onTestFinished(() => void child.kill("SIGKILL"));
    const start = async () => {
      const channels = JSON.stringify({ work: { type: "slack", baseUrl } });
      child = spawn(process.execPath, [program, agentDir, channels], { stdio: ["ignore", "pipe", "inherit"] });
      await once(child.stdout!, "data");
    };
    await start();
    const written = people.writeAll();
    for (let kills = 1; kills <= killCount; kills++) {
      // An answer can be for several messages, and some are uncertain.
      const wanted = Math.floor((0.8 * day.messageCount * kills) / (killCount + 1));
      await expect.poll(() => server.posted.length, { timeout: 3_000_000, interval: 5 }).toBeGreaterThan(wanted);
      child!.kill("SIGKILL");
      await once(child!, "exit");
      await start();
    }
    await written;
    /** Messages without an answer, except for those whose answer is known to be uncertain. */
    const listLost = async () => {
      const answered = new Set([
        ...people.conversations.flatMap((each) => people.listAnswered(each)),
        ...(await listUncertain(agentDir)),
      ]);
      return Array.from({ length: day.messageCount }, (_, index) => index).filter((index) => !answered.has(index));
    };
    await expect.poll(listLost, { timeout: 600_000, interval: 100 }).toEqual([]);
    child!.kill("SIGKILL");
    await once(child!, "exit");
    for (const conversation of people.conversations) {
      const order = people.listAnswered(conversation);
      // Nobody gets an answer twice, or before the answer to an earlier message.
      expect(order).toEqual([...new Set(order)].toSorted((a, b) => a - b));
    }
    if (isLong) console.log(JSON.stringify({ ...people.mishaps, uncertain: (await listUncertain(agentDir)).length }));
    // Otherwise the day was not bad enough to show anything.
    for (const count of Object.values(people.mishaps)) expect(count).toBeGreaterThan(0);
  },
);

/** Lets everybody in, and stores the tokens. */
async function prepare(agentDir: string, { conversations }: SlackPeople): Promise<void> {
  await mkdir(join(agentDir, "gateway"), { recursive: true, mode: 0o700 });
  const peers = conversations.map(({ user }) => ({ accountId: "work", id: `T1/${user}`, name: user, pairedAt: 1 }));
  const key = (value: string) => ({ type: "api_key", key: value });
  const auth = { "channel-work-token": key(slackTokens.bot), "channel-work-app": key(slackTokens.app) };
  const write = (name: string, value: object) =>
    writeFile(join(agentDir, name), JSON.stringify(value), { mode: 0o600 });
  await Promise.all([write("gateway/channel-peers.json", { peers, codes: [] }), write("auth.json", auth)]);
}

/** The messages whose answer was perhaps delivered. */
async function listUncertain(agentDir: string): Promise<number[]> {
  const table = new ChannelTable();
  const text = await readFile(join(agentDir, "gateway", "channels.jsonl"), "utf8").catch(() => "");
  for (const line of text.split("\n")) {
    const record = tryParseJson(line);
    if (isRecord(record)) table.take(record as ChannelRecord);
  }
  const uncertain = [...table.replies()].filter(({ state }) => state === "uncertain");
  return uncertain.flatMap(({ text: reply }) => toNumbers(reply));
}
