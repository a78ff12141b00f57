/** CPU of importing the package and getting one model, compared with an empty module in the same run. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const rounds = 25;
const tail =
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); console.log((user + system) / 1000); });";

export default async function bench(report) {
  // Inside the repository, so that the package resolves as it does for a user.
  const directory = mkdtempSync(join(import.meta.dirname, "import-"));
  const programs = {
    empty: tail,
    import: `import { getModel } from "@tau/ai"; if (!getModel("anthropic", "claude-opus-4-5")) throw new Error("no model"); ${tail}`,
  };
  const best = { empty: Number.POSITIVE_INFINITY, import: Number.POSITIVE_INFINITY };
  try {
    for (const [name, source] of Object.entries(programs)) writeFileSync(join(directory, `${name}.mjs`), source);
    for (let round = 0; round < rounds; round++) {
      for (const name of Object.keys(programs)) {
        const { stdout, stderr, status } = spawnSync(process.execPath, [join(directory, `${name}.mjs`)], {
          encoding: "utf8",
          // Variables such as NODE_EXTRA_CA_CERTS make every Node start slower.
          env: { PATH: process.env.PATH, HOME: process.env.HOME },
        });
        if (status !== 0) throw new Error(stderr);
        best[name] = Math.min(best[name], Number(stdout));
      }
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
  report("empty module", best.empty, "ms of CPU");
  report("import and one model", best.import, "ms of CPU");
  report("above an empty module", best.import - best.empty, "ms of CPU");
}
