/** Opening a long session must cost what is shown of it: whole processes that open one, build its context and leave. */
import { execFileSync } from "node:child_process";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "@tau/harness";

const long = 100_000;
const short = 100;
const entryBytes = 1_070;
const compactionEvery = 200;

export default async function bench(report) {
  const directory = await mkdtemp(join(tmpdir(), "tau-bench-"));
  try {
    const [longPath, shortPath] = [await generate(directory, long), await generate(directory, short)];
    report("the long session", (await stat(longPath)).size / 1e6, "MB");
    for (const work of ["context", "navigate"]) {
      const [big, small] = fastest([longPath, shortPath], work, 15);
      report(`${work}, warm: CPU over the short one`, big.cpu / small.cpu, "times");
      report(`${work}, warm: CPU of the long one`, big.cpu / 1_000, "ms");
      report(`${work}, warm: RSS above the short one`, (big.rss - small.rss) / 1024 / 1024, "MiB");
    }
    const lines = await readLines(longPath);
    let cold = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 3; run++) {
      await rm(`${longPath}.idx`, { force: true });
      cold = Math.min(cold, child(longPath, "open").cpu);
    }
    const empty = fastest([shortPath], "open", 5)[0].cpu;
    report("cold: CPU over reading and parsing line by line", (cold - empty) / lines, "times");
    report("cold: CPU", (cold - empty) / 1_000, "ms");
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function generate(directory, count) {
  const session = await SessionManager.create(directory, directory, { durability: "none" });
  const ids = [];
  for (let at = 0; at < count; at++) {
    if (at % compactionEvery === compactionEvery - 1) await session.appendCompaction("so far", ids.at(-20), 100_000);
    const text = `${at} `.padEnd(entryBytes - 220, "word ");
    ids.push(await session.appendMessage({ role: "user", content: [{ type: "text", text }], timestamp: at }));
  }
  await session.close();
  return session.getSessionFile();
}

/** The least that each needs, measured in turns. */
function fastest(paths, work, runs) {
  const best = paths.map(() => ({ cpu: Number.POSITIVE_INFINITY, rss: Number.POSITIVE_INFINITY }));
  for (let run = 0; run < runs; run++) {
    for (const [at, path] of paths.entries()) {
      const { cpu, rss } = child(path, work);
      best[at] = { cpu: Math.min(best[at].cpu, cpu), rss: Math.min(best[at].rss, rss) };
    }
  }
  return best;
}

function child(path, work) {
  const script = `
    import { SessionManager } from "@tau/harness";
    const session = await SessionManager.open(${JSON.stringify(path)});
    const work = ${JSON.stringify(work)};
    if (work === "context") await session.buildContext();
    if (work === "navigate") {
      const [first] = await session.getChildren(null);
      await session.buildContext(first.id);
    }
    await session.close();
    const { user, system } = process.cpuUsage();
    console.log(JSON.stringify({ cpu: user + system, rss: process.resourceUsage().maxRSS * 1024 }));
  `;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: import.meta.dirname });
  return JSON.parse(output.toString());
}

/** Measures reading a file and parsing its lines. */
async function readLines(path) {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run++) {
    const started = process.cpuUsage();
    const handle = await open(path);
    for await (const line of handle.readLines()) JSON.parse(line);
    const { user, system } = process.cpuUsage(started);
    best = Math.min(best, user + system);
  }
  return best;
}
