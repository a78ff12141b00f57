/**
 * Builds every package to `dist/`: JavaScript with esbuild, in about a second, and, with `--types`, declarations too.
 * The output is few files: each entry with everything it needs at start, and a chunk for each dynamic import.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { buildProgram } from "./build-program.mjs";

const root = join(import.meta.dirname, "..");

/** The entries of each package. Everything they import is bundled, except for the dependencies. */
const packages = [
  {
    name: "ai",
    // Every import of the package loads it, so it must be one file.
    core: "index",
    entries: ["index", "testing/index", "platform/node", "platform/browser", "schema/engine", "schema/engine-node"],
    // Loaded late and synchronously, with `require`.
    commonjs: ["schema/engine"],
  },
  { name: "agent", entries: ["index"] },
  { name: "tools", entries: ["index", "platform/index", "testing/index"] },
  { name: "protocol", entries: ["index", "node/index"] },
  { name: "harness", entries: ["index", "testing/index"] },
  { name: "cli", entries: ["index"] },
];

/** Dependencies that are bundled, because they are many small files. */
const bundled = new Set(["typebox", "eventsource-parser"]);

for (const { name, entries, core, commonjs = [] } of packages) {
  const directory = join(root, "packages", name);
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  // Peer dependencies are the user's to install.
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies };
  const dependencies = Object.keys(declared).filter((dependency) => !bundled.has(dependency));
  const outdir = join(directory, "dist");
  const sources = (names) => Object.fromEntries(names.map((entry) => [entry, join(directory, "src", `${entry}.ts`)]));
  const shared = {
    absWorkingDir: directory,
    outdir,
    bundle: true,
    target: "node20",
    mainFields: ["module", "main"],
    external: [
      "node:*",
      ...Object.keys(manifest.imports ?? {}),
      ...dependencies.flatMap((dependency) => [dependency, `${dependency}/*`]),
    ],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "warning",
  };
  // The names of chunks contain hashes, so old ones would stay. Declarations belong to `tsc`.
  rmSync(join(outdir, "chunks"), { recursive: true, force: true });
  await build({
    ...shared,
    entryPoints: sources(entries),
    splitting: true,
    format: "esm",
    platform: "neutral",
    chunkNames: "chunks/[name]-[hash]",
    ...(core && {
      plugins: [oneCore(join(directory, "src", `${core}.ts`), sources(entries))],
      ignoreAnnotations: true,
    }),
  });
  if (commonjs.length > 0) {
    await build({
      ...shared,
      entryPoints: sources(commonjs),
      format: "cjs",
      platform: "node",
      outExtension: { ".js": ".cjs" },
    });
  }
}

/**
 * Keeps the core in one file. esbuild makes a chunk for each set of entries that share a module, so the core would be
 * split into many files, each of which takes time to load. If every dynamic import also imports the core, there is only
 * one set. The package declares that its files have no side effects, and esbuild would drop these imports: hence
 * `ignoreAnnotations`.
 */
function oneCore(core, entries) {
  const importers = new Set([entries["testing/index"]]);
  return {
    name: "one-core",
    setup(bundler) {
      bundler.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
        if (kind === "dynamic-import") importers.add(join(resolveDir, path));
        return undefined;
      });
      bundler.onLoad({ filter: /\.ts$/ }, ({ path }) =>
        importers.has(path)
          ? { contents: `${readFileSync(path, "utf8")}\nimport ${JSON.stringify(core)};`, loader: "ts" }
          : undefined,
      );
    },
  };
}

await buildProgram();

if (process.argv.includes("--types")) {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-b", ...packages.map(({ name }) => join("packages", name))], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
}
