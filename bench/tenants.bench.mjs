/** 200 tenants in one process: what one costs while it is idle, and after a run with a call of a tool. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createAgentSession } from "@tau/harness";
import { call, scriptedModel, text } from "@tau/ai/testing";

const tenants = 200;
/** They load the code, which all tenants share. */
const firstTenants = 10;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

export default async function bench(report) {
  const directory = await mkdtemp(join(tmpdir(), "tau-bench-"));
  // One for all, so that only the tenants are measured.
  const model = scriptedModel([]);
  const opened = [];
  try {
    for (let at = 0; at < firstTenants; at++) await run(opened[opened.push(await open(directory, model)) - 1], model);
    const before = await measure();
    for (let at = 0; at < tenants; at++) opened.push(await open(directory, model));
    const idle = await measure();
    for (const session of opened.slice(firstTenants)) await run(session, model);
    const after = await measure();
    report("an idle tenant", (idle.rss - before.rss) / tenants, "MB of RSS (at most 0.3)");
    report("an idle tenant, heap and buffers", (idle.heap - before.heap) / tenants, "MB");
    report("a tenant after a run", (after.rss - before.rss) / tenants, "MB of RSS (at most 0.8)");
    report("a tenant after a run, heap and buffers", (after.heap - before.heap) / tenants, "MB");
  } finally {
    for (const session of opened) await session.dispose();
    await rm(directory, { recursive: true });
  }
}

let opened = 0;

async function open(directory, model) {
  const cwd = join(directory, `tenant-${++opened}`);
  await mkdir(cwd);
  await writeFile(join(cwd, "notes.txt"), "Nothing is due.\n");
  return await createAgentSession({ cwd, model, isolation: "tenant" });
}

async function run(session, model) {
  model.add([call("read", { path: "notes.txt" })], [text("Nothing is due.")]);
  await session.prompt("What is due?");
  // What the model was sent is kept for tests only.
  model.asked.length = 0;
}

async function measure() {
  for (let round = 0; round < 4; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss: rss / 1e6, heap: (heapUsed + external) / 1e6 };
}
