/**
 * Runs one benchmark against the built packages: `npm run bench -- NAME`. Prints one JSON line per figure, and first a
 * calibration line, so that figures from different machines can be compared. Figures are CPU time, not wall time.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const directory = import.meta.dirname;
const names = readdirSync(directory)
  .filter((file) => file.endsWith(".bench.mjs"))
  .map((file) => file.replace(".bench.mjs", ""));

const [name] = process.argv.slice(2);
if (!name || !names.includes(name)) {
  console.error(`Usage: npm run bench -- NAME\nBenchmarks: ${names.join(", ")}`);
  process.exit(2);
}
if (!existsSync(join(directory, "..", "packages", "ai", "dist", "index.js"))) {
  console.error("The packages are not built. Run: npm run build");
  process.exit(1);
}

const report = (figure, value, unit) =>
  console.log(JSON.stringify({ bench: name, figure, value: Number(value.toPrecision(6)), unit }));

report("calibration", calibrate(), "operations per CPU second");
const { default: bench } = await import(join(directory, `${name}.bench.mjs`));
await bench(report);

/** A fixed piece of work: parsing and writing one JSON document. The best of five rounds. */
function calibrate() {
  const document = JSON.stringify(
    Array.from({ length: 50 }, (_unused, id) => ({ id, name: `item ${id}`, tags: ["a", "b"] })),
  );
  let best = 0;
  for (let round = 0; round < 5; round++) {
    const started = process.cpuUsage();
    for (let turn = 0; turn < 2_000; turn++) JSON.stringify(JSON.parse(document));
    const { user, system } = process.cpuUsage(started);
    best = Math.max(best, 2_000 / ((user + system) / 1e6));
  }
  return best;
}
