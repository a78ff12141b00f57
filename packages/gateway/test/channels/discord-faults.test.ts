/** Conversations over Discord while its network, its limits and the gateway's process fail at any moment. */
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
import { type DiscordFault, DiscordServer } from "./discord-server.ts";

const toPath = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const isLong = process.env["TAU_LONG"] !== undefined;
const [messageCount, killCount, conversationCount] = isLong ? [10_000, 50, 50] : [40, 2, 4];
const seed = Number(process.env["TAU_SEED"] ?? 40);
/** To look at all answers costs more, the more there are. */
const stepsAtATime = isLong ? 10 : 1;
/** How many questions of a conversation are not answered at a time. */
const maxOpen = 2;

/** Creates a source of numbers that are the same for the same seed. */
function createRandom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The messages that an answer is for. */
const toNumbers = (text: string): number[] => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));

/** People who ask in conversations of their own, and what they got. */
class Conversations {
  readonly people = Array.from({ length: conversationCount }, (_, index) => ({
    id: String(2_000 + index),
    channelId: String(1_000 + index),
    asked: [] as number[],
  }));
  readonly #server: DiscordServer;
  #next = 0;

  constructor(server: DiscordServer) {
    this.#server = server;
    for (const { channelId } of this.people) server.channels.set(channelId, { id: channelId, type: 1 });
  }

  answersTo({ channelId }: { channelId: string }): number[] {
    return this.#server.textsTo(channelId).flatMap(toNumbers);
  }

  /** Counts the questions that have an answer. */
  get answeredCount(): number {
    return new Set(this.people.flatMap((person) => this.answersTo(person))).size;
  }

  get hasAskedAll(): boolean {
    return this.#next >= messageCount;
  }

  /** Somebody asks, if somebody has not too many questions that are open. */
  ask(random: () => number): void {
    if (this.hasAskedAll) return;
    const person = this.people[Math.floor(random() * conversationCount)]!;
    if (person.asked.length - new Set(this.answersTo(person)).size >= maxOpen) return;
    const index = this.#next++;
    person.asked.push(index);
    const author = { id: person.id, username: person.id };
    this.#server.write(`question ${index}`, { channel_id: person.channelId, author });
  }
}

/** Chooses what fails of the requests that send something. */
function createFaults(random: () => number): DiscordServer["chooseFault"] {
  const body = { message: "You are being rate limited.", retry_after: 0.05 };
  const headers = { "retry-after": "0.05" };
  const choices: readonly DiscordFault[] = [
    { kind: "answer", status: 429, body: { ...body, global: false }, headers },
    {
      kind: "answer",
      status: 429,
      body: { ...body, global: true },
      headers: { ...headers, "x-ratelimit-global": "true" },
    },
    { kind: "answer", status: 500 },
    { kind: "answer", status: 502 },
    { kind: "cut", isAfter: false },
    { kind: "cut", isAfter: true },
    { kind: "cut", isAfter: true },
  ];
  return ({ method, path }) => {
    if (method !== "POST" || !path.endsWith("/messages") || random() > 0.1) return undefined;
    return choices[Math.floor(random() * choices.length)];
  };
}

/** Lets the connection fail now and then. */
function disturb(server: DiscordServer, random: () => number, isKnown: boolean): void {
  const chance = random();
  if (chance < 0.05) server.repeatLast();
  else if (chance < 0.06) server.cutSockets();
  else if (chance < 0.065) server.send(7, null);
  else if (chance < 0.07) server.closeSockets(4000);
  else if (chance < 0.074 && isKnown) {
    // Discord finds the conversations again by their history.
    server.forgetSessions();
    server.cutSockets();
  }
}

/** The second one has everything of the first. */
const rows = [
  ["whatever fails", 0],
  ["however often the gateway is killed", killCount],
] as const;

test.each(isLong ? rows : rows.slice(1))(
  `every message is answered once, in order, %s (seed ${seed})`,
  { timeout: 3_600_000 },
  async (_name, kills) => {
    const directory = await mkdtemp(join(tmpdir(), "tau-discord-faults-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const agentDir = join(directory, "agent");
    await mkdir(join(agentDir, "gateway"), { recursive: true, mode: 0o700 });
    const random = createRandom(seed + kills);
    const server = new DiscordServer();
    const baseUrl = await server.listen();
    onTestFinished(() => server.close());
    const conversations = new Conversations(server);
    const peers = conversations.people.map(({ id }) => ({ accountId: "club", id, name: id, pairedAt: 1 }));
    const peersPath = join(agentDir, "gateway", "channel-peers.json");
    await writeFile(peersPath, JSON.stringify({ peers, codes: [] }), { mode: 0o600 });
    const program = join(directory, "discord-child.mjs");
    await buildChild(toPath("discord-child.ts"), program);
    let child: ChildProcess;
    let log = "";
    onTestFinished(() => void child.kill("SIGKILL"));
    onTestFinished(({ task }) => {
      if (task.result?.state === "fail") console.error(log.slice(-4_000));
    });
    const start = async () => {
      child = spawn(process.execPath, [program, agentDir, baseUrl], { stdio: ["ignore", "pipe", "pipe"] });
      child.stderr!.on("data", (chunk: Buffer) => (log += chunk.toString()));
      await once(child.stdout!, "data");
    };
    const kill = async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    };
    /** Questions without an answer, except for those whose answer is known to be uncertain. */
    const listLost = async () => {
      const table = new ChannelTable();
      const lines = await readFile(join(agentDir, "gateway", "channels.jsonl"), "utf8").catch(() => "");
      for (const line of lines.split("\n")) {
        const record = tryParseJson(line);
        if (isRecord(record)) table.take(record as ChannelRecord);
      }
      const uncertain = [...table.replies()].filter(({ state }) => state === "uncertain").map(({ text }) => text);
      const known = new Set([
        ...conversations.people.flatMap((person) => conversations.answersTo(person)),
        ...uncertain.flatMap(toNumbers),
      ]);
      return Array.from({ length: messageCount }, (_, index) => index).filter((index) => !known.has(index));
    };
    await start();
    await expect.poll(() => server.identifies.length).toBe(1);
    server.chooseFault = createFaults(random);
    let killed = 0;
    const isDone = async () => {
      const isKnown = conversations.people.every((person) => conversations.answersTo(person).length > 2);
      for (let step = 0; step < stepsAtATime; step++) {
        conversations.ask(random);
        if (random() < 0.3) disturb(server, random, isKnown);
      }
      const { answeredCount } = conversations;
      if (killed < kills && answeredCount > ((killed + 1) * messageCount) / (kills + 2)) {
        killed++;
        await kill();
        await start();
      }
      return answeredCount === messageCount || (conversations.hasAskedAll && (await listLost()).length === 0);
    };
    await expect.poll(isDone, { timeout: isLong ? 3_500_000 : 240_000, interval: 10 }).toBe(true);
    expect(await listLost()).toEqual([]);
    // What is still on its way would be an answer too many.
    server.chooseFault = () => undefined;
    await kill();
    await start();
    await expect.poll(() => server.identifies.length + server.resumes).toBeGreaterThan(1);
    await kill();
    for (const person of conversations.people) {
      const order = conversations.answersTo(person);
      expect(order).toEqual([...new Set(order)].toSorted((a, b) => a - b));
      expect(person.asked).toEqual(expect.arrayContaining(order));
    }
    expect(killed).toBe(kills);
  },
);
