/** Listing many sessions: the first time they are all looked at, then only what has changed. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "@tau/harness";
import { cpuSince } from "./memory-model.mjs";

const sessions = 10_000;

export default async function bench(report) {
  const directory = join(await mkdtemp(join(tmpdir(), "tau-bench-")), "sessions");
  try {
    await mkdir(directory);
    for (let at = 0; at < sessions; at++) await generate(directory, at);
    report("first time", (await list(directory)).wallMs, "ms");
    const known = [];
    for (let run = 0; run < 5; run++) known.push(await list(directory));
    report("known", Math.min(...known.map(({ wallMs }) => wallMs)), "ms");
    report("known", Math.min(...known.map(({ cpu }) => cpu)) / 1_000, "ms of CPU");
  } finally {
    await rm(join(directory, ".."), { recursive: true });
  }
}

async function list(directory) {
  const cpu = process.cpuUsage();
  const started = performance.now();
  const found = await SessionManager.list("/", directory);
  if (found.length !== sessions || !found.every(({ firstMessage }) => firstMessage))
    throw new Error("sessions are missing");
  return { wallMs: performance.now() - started, cpu: cpuSince(cpu) };
}

async function generate(directory, at) {
  const timestamp = new Date(at * 60_000).toISOString();
  const id = String(at).padStart(8, "0");
  const message = { role: "user", content: `Question ${at} ${"word ".repeat(100)}`, timestamp: 0 };
  const lines = [
    { type: "session", version: 3, id, timestamp, cwd: "/" },
    { type: "message", id: "00000001", parentId: null, timestamp, message },
    {
      type: "message",
      id: "00000002",
      parentId: "00000001",
      timestamp,
      message: { ...message, role: "assistant", content: [] },
    },
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  await writeFile(join(directory, `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`), text);
}
