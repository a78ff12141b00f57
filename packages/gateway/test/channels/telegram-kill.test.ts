/** Conversations over Telegram while its network, its limits and the gateway's process fail at any moment. */
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
import { createRandom, toNumbers } from "./slack-people.ts";
import { type TelegramFault, TelegramServer, telegramToken } from "./telegram-server.ts";

const isLong = process.env["TAU_LONG"] !== undefined;
const seed = Number(process.env["SEED"]) || 40;
const [messageCount, conversationCount, killCount] = isLong ? [10_000, 50, 50] : [90, 6, 2];

const limited: TelegramFault = {
  status: 429,
  body: { ok: false, error_code: 429, description: "Too Many Requests: retry after 1", parameters: { retry_after: 1 } },
};
const broken: TelegramFault = { status: 500, body: { ok: false, error_code: 500, description: "Internal Error" } };

/** People who write in chats of their own: half of them in groups, where they name the account. */
class TelegramPeople {
  readonly chats = Array.from({ length: conversationCount }, (_, index) => ({
    person: 1_000 + index,
    chat: index % 2 === 0 ? 1_000 + index : -1_000 - index,
    next: index,
    lastUpdate: 0,
  }));
  /** How often each thing went wrong. */
  readonly mishaps = { limited: 0, broken: 0, cut: 0, lost: 0, repeated: 0, reordered: 0 };
  readonly #server: TelegramServer;
  readonly #random: () => number;
  readonly #calls = { polls: 0, sends: 0, batches: 0 };

  constructor(server: TelegramServer) {
    this.#server = server;
    this.#random = createRandom(seed);
    server.chooseFault = (method) => this.#chooseFault(method);
    server.changeUpdates = (updates) => this.#disturb(updates);
  }

  /** Somebody writes whose last message was confirmed. False if everybody has written everything. */
  write(): boolean {
    for (const each of this.chats) {
      const { person, chat, next, lastUpdate } = each;
      if (next >= messageCount || !this.#server.isConfirmed(lastUpdate) || this.#random() < 0.3) continue;
      const isPrivate = chat > 0;
      const text = isPrivate ? `question ${next}` : `@TauBot question ${next}`;
      const from = { id: person, is_bot: false, first_name: `Person ${person}` };
      const entities = isPrivate ? [] : [{ type: "mention", offset: 0, length: 7 }];
      const message = { message_id: next + 1, from, chat: { id: chat, type: isPrivate ? "private" : "group" }, text };
      each.lastUpdate = this.#server.add({ message: { ...message, entities } });
      each.next += conversationCount;
    }
    return this.chats.some(({ next }) => next < messageCount);
  }

  /** The messages that were answered in a chat, in the order of the answers. */
  listAnswered({ chat }: { chat: number }): number[] {
    return [...this.#server.shown.values()].filter((each) => each.chat === chat).flatMap(({ text }) => toNumbers(text));
  }

  get answeredCount(): number {
    return this.chats.reduce((sum, each) => sum + this.listAnswered(each).length, 0);
  }

  /** Everything goes wrong in turn, so that a short day has all of it. */
  #chooseFault(method: string): { fault: TelegramFault; isAfter: boolean } | undefined {
    if (method === "getUpdates") {
      return ++this.#calls.polls % 15 === 0 ? this.#count("lost", { fault: "cut", isAfter: false }) : undefined;
    }
    if (method !== "sendMessage" && method !== "editMessageText") return undefined;
    // The gateway keeps a thousand uncertain replies to look at: a long day has fewer.
    const turn = ++this.#calls.sends / (isLong ? 40 : 6);
    if (!Number.isInteger(turn)) return undefined;
    if (turn % 5 > 2) return this.#count("limited", { fault: limited, isAfter: false });
    const isAfter = Math.floor(turn / 5) % 2 === 0;
    return turn % 5 === 2
      ? this.#count("broken", { fault: broken, isAfter })
      : this.#count("cut", { fault: "cut", isAfter });
  }

  #disturb<T>(updates: readonly T[]): readonly T[] {
    const turn = ++this.#calls.batches % 4;
    if (turn === 0) return this.#count("repeated", [...updates, ...updates]);
    return turn % 2 === 1 && updates.length > 1 ? this.#count("reordered", updates.toReversed()) : updates;
  }

  #count<T>(mishap: keyof TelegramPeople["mishaps"], result: T): T {
    this.mishaps[mishap]++;
    return result;
  }
}

test(
  `every message of a bad day at Telegram is answered once, in order, also by a gateway that is killed (seed ${seed})`,
  { timeout: 3_600_000 },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "tau-telegram-kill-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const server = new TelegramServer();
    onTestFinished(() => server.close());
    const baseUrl = await server.listen();
    const people = new TelegramPeople(server);
    const agentDir = join(directory, "agent");
    await prepare(agentDir, people);
    const program = join(directory, "gateway-child.mjs");
    await buildChild(fileURLToPath(new URL("gateway-child.ts", import.meta.url)), program);
    let child: ChildProcess;
    onTestFinished(() => void child.kill("SIGKILL"));
    const start = async () => {
      const channels = JSON.stringify({ phone: { type: "telegram", baseUrl } });
      child = spawn(process.execPath, [program, agentDir, channels], { stdio: ["ignore", "pipe", "inherit"] });
      await once(child.stdout!, "data");
    };
    const kill = async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    };
    await start();
    let killed = 0;
    const isWritten = async () => {
      const isDone = !people.write();
      // Some answers are uncertain.
      const wanted = (0.8 * messageCount * (killed + 1)) / (killCount + 1);
      if (killed < killCount && people.answeredCount > wanted) {
        killed++;
        await kill();
        await start();
      }
      return isDone && killed === killCount;
    };
    await expect.poll(isWritten, { timeout: 3_000_000, interval: 10 }).toBe(true);
    /** Messages without an answer, except for those whose answer is known to be uncertain. */
    const listLost = async () => {
      const answered = new Set([
        ...people.chats.flatMap((each) => people.listAnswered(each)),
        ...(await listUncertain(agentDir)),
      ]);
      return Array.from({ length: messageCount }, (_, index) => index).filter((index) => !answered.has(index));
    };
    await expect.poll(listLost, { timeout: 600_000, interval: 100 }).toEqual([]);
    await kill();
    for (const each of people.chats) {
      const order = people.listAnswered(each);
      // Nobody gets an answer twice, or before the answer to an earlier message.
      expect(order).toEqual([...new Set(order)].toSorted((a, b) => a - b));
    }
    if (isLong) console.log(JSON.stringify({ ...people.mishaps, uncertain: (await listUncertain(agentDir)).length }));
    // Otherwise the day was not bad enough to show anything.
    for (const count of Object.values(people.mishaps)) expect(count).toBeGreaterThan(0);
  },
);

/** Lets everybody in, and stores the token. */
async function prepare(agentDir: string, { chats }: TelegramPeople): Promise<void> {
  await mkdir(join(agentDir, "gateway"), { recursive: true, mode: 0o700 });
  const peers = chats.map(({ person }) => ({ accountId: "phone", id: `${person}`, name: `${person}`, pairedAt: 1 }));
  const auth = { "channel-phone-token": { type: "api_key", key: telegramToken } };
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
