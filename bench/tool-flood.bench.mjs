/** CPU of our process for a command that writes 100 MB. What the command itself needs is not included. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBashTool, createJobs, createSpawn } from "@tau/tools";

const rounds = 5;
const unit = "s of CPU above the command's own";
const commands = {
  "100 MB in short lines": { command: "head -c 100000000 /dev/zero | tr '\\0' x | fold", limit: " (at most 1)" },
  "100 MB in one line": { command: "head -c 100000000 /dev/zero | tr '\\0' x", limit: " (at most 1)" },
  "100 MB of UTF-8": { command: "yes 'größer als π' | head -c 100000000", limit: "" },
};

export default async function bench(report) {
  const outputDirectory = mkdtempSync(join(tmpdir(), "tau-bench-"));
  const jobs = createJobs();
  const tool = createBashTool({ cwd: tmpdir(), spawn: createSpawn(), jobs, outputDirectory });
  // As a session calls it: somebody watches the output.
  const run = (command) => tool.execute("id", { command }, undefined, () => {});
  try {
    for (const [name, { command, limit }] of Object.entries(commands)) {
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < rounds; round++) {
        const started = process.cpuUsage();
        await run(command);
        const { user, system } = process.cpuUsage(started);
        best = Math.min(best, (user + system) / 1e6);
      }
      report(name, best, `${unit}${limit}`);
    }
  } finally {
    await jobs.dispose();
    rmSync(outputDirectory, { recursive: true, force: true });
  }
}
