/**
 * Builds every package to `dist/`: JavaScript with esbuild, in about a second, and, with `--types`, declarations too.
 * Users get few files: each entry with what it needs at start, and a chunk for everything that is loaded later.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");

/** The entries of each package; everything they import is bundled, except what `external` names. */
const packages = [
  { name: "ai", entries: ["index", "testing/index", "platform/node", "platform/browser"] },
  { name: "cli", entries: ["index", "bin"] },
];

/** Bundled because loading them as many small files costs more than their code. */
const bundled = new Set(["typebox", "eventsource-parser"]);

for (const { name, entries } of packages) {
  const directory = join(root, "packages", name);
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const dependencies = Object.keys(manifest.dependencies ?? {}).filter((dependency) => !bundled.has(dependency));
  const outdir = join(directory, "dist");
  // Chunks carry hashes in their names and would pile up; declarations stay, since `tsc` keeps track of its own.
  rmSync(join(outdir, "chunks"), { recursive: true, force: true });
  await build({
    absWorkingDir: directory,
    entryPoints: Object.fromEntries(entries.map((entry) => [entry, `src/${entry}.ts`])),
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    target: "node20",
    platform: "neutral",
    mainFields: ["module", "main"],
    external: [
      "node:*",
      "#platform",
      "#catalog/*",
      ...dependencies.flatMap((dependency) => [dependency, `${dependency}/*`]),
    ],
    chunkNames: "chunks/[name]-[hash]",
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: "warning",
    sourcemap: false,
    legalComments: "none",
  });
}

if (process.argv.includes("--types")) {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-b", "packages/ai", "packages/cli"], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
}
