/**
 * Compiles the sources of the packages for a whole run of the tests. `vitest.config.ts` says what for.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { build, stop } from "esbuild";

const packages = join(import.meta.dirname, "..", "packages");

/** These are for pages. Vite, which builds pages, also compiles them for tests. */
const forPages = ["react", "web"];

/**
 * Returns a new directory with a file for each source: `ai/src/index.mjs` for `packages/ai/src/index.ts`. It is in
 * `node_modules`, where Node finds the dependencies.
 */
export async function compileSources() {
  const cache = join(packages, "..", "node_modules", ".cache", "tau", "sources");
  mkdirSync(cache, { recursive: true });
  for (const pid of readdirSync(cache)) if (!isRunning(Number(pid))) rmSync(join(cache, pid), { recursive: true });
  const directory = join(cache, String(process.pid));
  const sources = listSources();
  const outputs = new Map(
    sources.map((source) => [source, join(directory, relative(packages, source).replace(/\.ts$/, ".mjs"))]),
  );
  await build({
    entryPoints: sources,
    outbase: packages,
    outdir: directory,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@tau/source"],
    plugins: [oneFileEach(outputs)],
    logLevel: "warning",
  });
  // It would keep the memory that it needed for as long as the tests run.
  await stop();
  return directory;
}

/** A run that was killed has left its directory. */
function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

function listSources() {
  const names = readdirSync(packages).filter((name) => !forPages.includes(name));
  return names
    .flatMap((name) =>
      readdirSync(join(packages, name, "src"), { recursive: true }).map((file) => join(name, "src", file)),
    )
    .filter((file) => /(?<!\.d|\.test)\.ts$/.test(file))
    .map((file) => join(packages, file));
}

/** Lets the compiled files import each other. Everything else that is no dependency, such as JSON, becomes part of them. */
const oneFileEach = (outputs) => ({
  name: "one-file-each",
  setup(bundler) {
    const isResolved = {};
    const resolve = async ({ path, kind, importer, resolveDir }) => {
      // The usual case, which esbuild needs not be asked about.
      const target = join(resolveDir, path);
      if (path.startsWith(".") && outputs.has(target)) return { path: target };
      return await bundler.resolve(path, { kind, importer, resolveDir, pluginData: isResolved });
    };
    bundler.onResolve({ filter: /./ }, async (args) => {
      const { path, kind, importer, pluginData } = args;
      if (kind === "entry-point" || pluginData === isResolved) return undefined;
      if (!/^(?:\.|#|@tau\/)/.test(path)) return { path, external: true };
      const target = await resolve(args);
      const output = outputs.get(target.path);
      if (output === undefined) return target;
      const specifier = relative(dirname(outputs.get(importer)), output).replaceAll(sep, "/");
      return { path: specifier.startsWith(".") ? specifier : `./${specifier}`, external: true };
    });
    // The sources find files and dependencies from where they are.
    bundler.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: readFileSync(path, "utf8").replaceAll("import.meta.url", url), loader: "ts" };
    });
  },
});
