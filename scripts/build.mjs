/**
 * Builds every package to `dist/`: JavaScript with esbuild, in about a second, and, with `--types`, declarations too.
 * Users get few files: each entry with what it needs at start, and a chunk for everything that is loaded later.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { buildPage } from "./build-page.mjs";
import { buildProgram } from "./build-program.mjs";
import { buildSandboxHelper } from "./build-sandbox-helper.mjs";

const root = join(import.meta.dirname, "..");

/**
 * The packages, in the order in which they import each other. The entries of each are those that its manifest exports and
 * `others`; everything they import is bundled, except what the package depends on at run time.
 */
const packages = [
  {
    name: "ai",
    // What everybody needs, and so must be one file.
    core: "index",
    others: [
      "platform/node",
      "platform/browser",
      "platform/edge",
      "catalog/files",
      "catalog/bundled.generated",
      "schema/engine-node",
    ],
    /** Shares no code with the rest. For `require` as well: it is loaded late, and synchronously. */
    alone: ["schema/engine"],
  },
  { name: "agent" },
  { name: "protocol", others: ["client/web-socket-node", "client/web-socket-browser"] },
  { name: "tools" },
  { name: "markdown" },
  { name: "sandbox" },
  { name: "policy" },
  { name: "config" },
  { name: "extensions" },
  { name: "harness" },
  { name: "features" },
  { name: "tui" },
  { name: "pi" },
  { name: "pi-sdk" },
  { name: "gateway" },
  { name: "cluster" },
  { name: "react" },
  { name: "cli" },
];

/** Bundled because loading them as many small files costs more than their code. */
const bundled = new Set(["typebox", "eventsource-parser"]);

for (const { name, others = [], core, alone = [] } of packages) {
  const directory = join(root, "packages", name);
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const entries = [...getEntries(manifest, directory), ...others];
  // What is there only if the person installed it is not ours to bring along.
  const wanted = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies };
  const dependencies = Object.keys(wanted).filter((dependency) => !bundled.has(dependency));
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
      // The models of a provider belong to its entry.
      ...Object.keys(manifest.imports ?? {}).filter((name) => name !== "#catalog/*"),
      ...dependencies.flatMap((dependency) => [dependency, `${dependency}/*`]),
    ],
    // Readable, because people step into libraries and bundle them again. The maps are files of their own, which no
    // package has: they are published beside the packages.
    legalComments: "none",
    sourcemap: "external",
    logLevel: "warning",
  };
  // The declarations are published, but not what `tsc` remembers of them.
  mkdirSync(outdir, { recursive: true });
  writeFileSync(join(outdir, ".npmignore"), ".tsbuildinfo\n*.map\n");
  // Chunks carry hashes in their names and would pile up; declarations stay, since `tsc` keeps track of its own.
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
  for (const entry of alone) {
    const entryPoints = sources([entry]);
    await build({ ...shared, entryPoints, format: "esm", platform: "neutral" });
    await build({ ...shared, entryPoints, format: "cjs", platform: "node", outExtension: { ".js": ".cjs" } });
  }
}

/** The source files that a package exports, without their endings. */
function getEntries({ exports }, directory) {
  const files = Object.values(exports).map((entry) => entry["@tau/source"]);
  const paths = files.filter((file) => file !== undefined).map((file) => /^\.\/src\/(.+)\.ts$/.exec(file)[1]);
  return paths.flatMap((path) => (path.endsWith("/*") ? listSources(directory, path.slice(0, -2)) : [path]));
}

function listSources(directory, folder) {
  return readdirSync(join(directory, "src", folder)).map((file) => `${folder}/${file.replace(/\.ts$/, "")}`);
}

/**
 * Keeps the core in one file. esbuild makes a chunk for each set of entries that share a module, so the core would fall
 * apart into as many files as there are ways to share it, and every file costs time at start. Where everything that is
 * loaded later also imports the core, which is there by then anyway, there is only one way. (esbuild drops an import
 * that is made for this alone if the package says that its files have no side effects; hence `ignoreAnnotations`.)
 */
function oneCore(core, entries) {
  const importers = new Set(
    Object.entries(entries).flatMap(([name, path]) =>
      /^(internal|testing|entries|platform|catalog)\//.test(name) ? [path] : [],
    ),
  );
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

buildSandboxHelper();
await buildPage();
await buildProgram();

if (process.argv.includes("--types")) {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(
    process.execPath,
    [tsc, "-b", ...packages.map(({ name }) => join("packages", name)), join("packages", "web")],
    {
      cwd: root,
      stdio: "inherit",
    },
  );
  process.exitCode = status ?? 1;
}
