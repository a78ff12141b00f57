/**
 * Searches 10,000 facts as `memory_search` does: at most 5 ms of CPU, also the first time in a process, which reads the facts and the
 * index. The index is made when facts have changed, which is shown as well.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { cpuSince } from "./memory-model.mjs";

const features = join(import.meta.dirname, "..", "packages", "features");
const nouns = ["parser", "lexer", "release", "deploy", "cache", "gateway", "session", "index", "sandbox", "terminal"];
const verbs = ["needs", "uses", "breaks without", "is tested with", "was moved to", "depends on"];
const createFact = (index) =>
  `- The ${nouns[index % 10]} of module ${index} ${verbs[index % 6]} step ${index % 97}, which ${nouns[(index * 7) % 10]} and ${nouns[(index * 3) % 10]} share _(fact, 2026-01-31, session 0f0f0f0f-1111)_`;
const queries = [
  "which step does the parser of module 4711 need",
  "release deploy gateway",
  "sandbox",
  "the terminal of module 99 and the cache",
];

export default async function bench(report) {
  const directory = mkdtempSync(join(tmpdir(), "tau-memory-"));
  try {
    const outfile = join(directory, "fact-file.mjs");
    await build({
      entryPoints: [join(features, "src", "memory", "fact-file.ts")],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: ["@tau/source"],
    });
    const { FactFile } = await import(outfile);
    writeFileSync(
      join(directory, "facts.md"),
      `${Array.from({ length: 10_000 }, (_, n) => createFact(n)).join("\n")}\n`,
    );
    let since = process.cpuUsage();
    await new FactFile(directory).search(queries[0], 10);
    report("the index of 10,000 facts made, with a search", cpuSince(since) / 1_000, "ms of CPU");
    const rounds = 50;
    since = process.cpuUsage();
    for (let round = 0; round < rounds; round++) {
      const found = await new FactFile(directory).search(queries[round % queries.length], 10);
      if (found.length !== 10) throw new Error("The query found too little.");
    }
    report("a search that reads the facts and the index", cpuSince(since) / 1_000 / rounds, "ms of CPU");
    const file = new FactFile(directory);
    await file.search(queries[0], 10);
    since = process.cpuUsage();
    for (let round = 0; round < rounds; round++) await file.search(queries[round % queries.length], 10);
    report("a search after that", cpuSince(since) / 1_000 / rounds, "ms of CPU");
  } finally {
    rmSync(directory, { recursive: true });
  }
}
