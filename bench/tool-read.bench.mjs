/** The first lines of a large file, and some from its middle: reading must cost what is shown. */
import { mkdtempSync, openSync, closeSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFiles, createReadTool } from "@tau/tools";
import { cpuSince } from "./memory-model.mjs";

const chunks = 1_024;

export default async function bench(report) {
  const cwd = mkdtempSync(join(tmpdir(), "tau-bench-read-"));
  try {
    writeLarge(join(cwd, "large.txt"));
    const read = createReadTool({ cwd, files: createFiles() });
    let first = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 10; round++) {
      const started = process.cpuUsage();
      const startedMs = performance.now();
      const { details } = await read.execute("id", { path: "large.txt" });
      if (details.shownLines !== 2_000) throw new Error(`${details.shownLines} lines are shown`);
      if (round === 0)
        report("the first read, first 2,000 lines of 1 GB", performance.now() - startedMs, "ms of wall time");
      first = Math.min(first, cpuSince(started) / 1e3);
    }
    report("first 2,000 lines of 1 GB", first, "ms of CPU");
    const before = process.memoryUsage().rss;
    const started = process.cpuUsage();
    await read.execute("id", { path: "large.txt", offset: 20_000_000, limit: 10 });
    report("10 lines from line 20,000,000", cpuSince(started) / 1e3, "ms of CPU");
    report("memory taken for them", (process.memoryUsage().rss - before) / 2 ** 20, "MiB");
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** 1 GB of lines of 24 bytes: the 2,000 lines of a read fit its 50 KB. */
function writeLarge(path) {
  const line = "a line of twenty-three.\n";
  const chunk = Buffer.from(line.repeat(Math.ceil(2 ** 20 / line.length)));
  const file = openSync(path, "w");
  for (let at = 0; at < chunks; at++) writeSync(file, chunk);
  closeSync(file);
}
