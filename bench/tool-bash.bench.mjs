/**
 * Measures what a command costs above starting bash alone, and what a hundred megabytes of output cost in memory. Wall
 * time.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBashTool, createJobs, createSpawn, findPidNamespace } from "@tau/tools";
import { bareBash, quickTime } from "./bare-bash.mjs";

const rounds = 200;

export default async function bench(report) {
  const outputDirectory = mkdtempSync(join(tmpdir(), "tau-bench-"));
  const spawn = createSpawn();
  const jobs = createJobs();
  const options = { cwd: tmpdir(), spawn, jobs, outputDirectory };
  const plain = createBashTool({ ...options, namespace: () => Promise.resolve(undefined) });
  const tools = { "best effort": plain };
  if (await findPidNamespace(spawn)) tools["a pid namespace"] = createBashTool(options);
  try {
    await measureOverhead(report, spawn, tools);
    for (const [name, tool] of Object.entries(tools)) await measureMemory(report, name, tool);
  } finally {
    await jobs.dispose();
    rmSync(outputDirectory, { recursive: true, force: true });
  }
}

/** Turn by turn, so that a busy moment of the machine hits all of them alike. */
async function measureOverhead(report, spawn, tools) {
  const work = {
    bare: () => bareBash(spawn),
    ...Object.fromEntries(
      Object.entries(tools).map(([name, tool]) => [name, () => tool.execute("id", { command: "true" })]),
    ),
  };
  const times = Object.fromEntries(Object.keys(work).map((name) => [name, []]));
  for (let round = -20; round < rounds; round++) {
    for (const [name, run] of Object.entries(work)) {
      const started = performance.now();
      await run();
      if (round >= 0) times[name].push(performance.now() - started);
    }
  }
  const bare = quickTime(times.bare);
  report("bash alone", bare, "ms");
  for (const name of Object.keys(tools)) report(`overhead of true with ${name}`, quickTime(times[name]) - bare, "ms");
}

async function measureMemory(report, name, tool) {
  const commands = {
    "100 MB in one line": (size) => `head -c ${size} /dev/zero | tr '\\0' x`,
    "100 MB in lines": (size) => `yes 0123456789012345678901234567890123456789 | head -c ${size}`,
  };
  for (const [what, command] of Object.entries(commands)) {
    await tool.execute("id", { command: command("8M") });
    const before = process.memoryUsage.rss();
    let peak = before;
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 2);
    await tool.execute("id", { command: command("100M") });
    clearInterval(timer);
    report(`${what} with ${name}`, (Math.max(peak, process.memoryUsage.rss()) - before) / 1024 / 1024, "MiB of RSS");
  }
}
