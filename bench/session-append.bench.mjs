/**
 * Measures what it costs to append: with a sync for each entry against a bare loop of writes and syncs, and without.
 */
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "@tau/harness";
import { cpuSince } from "./memory-model.mjs";

const entries = 10_000;
const message = { role: "user", content: [{ type: "text", text: "word ".repeat(60) }], timestamp: 1 };

export default async function bench(report) {
  const directory = await mkdtemp(join(tmpdir(), "tau-bench-"));
  try {
    // Once unmeasured: what is compared is the disk's work and ours, not the compiler's.
    await bareLoop(join(directory, "warm-up"), entries / 5);
    await appendLoop(directory, "strict", entries / 5);
    // In turns, so that a disk that is slow for a while is slow for both.
    const rounds = 5;
    const bare = [];
    const strict = [];
    for (let round = 0; round < rounds; round++) {
      bare.push(await bareLoop(join(directory, `bare-${round}`), entries / rounds));
      strict.push(await appendLoop(directory, "strict", entries / rounds));
    }
    const none = await appendLoop(directory, "none", entries);
    const turn = await appendLoop(directory, "turn", entries);
    const sum = (figures, name) => figures.reduce((total, figure) => total + figure[name], 0);
    report("strict, wall time over the bare loop", sum(strict, "wallMs") / sum(bare, "wallMs"), "times");
    report("strict, an entry", (1_000 * sum(strict, "wallMs")) / entries, "µs of wall time");
    report("strict, an entry", sum(strict, "cpu") / entries, "µs of CPU");
    report("bare loop, an entry", sum(bare, "cpu") / entries, "µs of CPU");
    report("turn", entries / (turn.wallMs / 1_000), "entries a second");
    report("none", entries / (none.wallMs / 1_000), "entries a second");
    report("none", entries / (none.cpu / 1e6), "entries per CPU second");
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function measure(work) {
  const cpu = process.cpuUsage();
  const started = performance.now();
  await work();
  return { wallMs: performance.now() - started, cpu: cpuSince(cpu) };
}

async function bareLoop(path, count) {
  const handle = await open(path, "a");
  const line = Buffer.from(`${JSON.stringify({ type: "message", id: "00000000", parentId: null, message })}\n`);
  const figure = await measure(async () => {
    for (let at = 0; at < count; at++) {
      await handle.write(line);
      await handle.datasync();
    }
  });
  await handle.close();
  return figure;
}

async function appendLoop(directory, durability, count) {
  const session = await SessionManager.create(directory, directory, { durability });
  const figure = await measure(async () => {
    for (let at = 0; at < count; at++) await session.appendMessage(message);
    if (durability !== "strict") await session.flush();
  });
  await session.close();
  return figure;
}
