import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Plugin } from "vite";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Workspaces resolve to their sources in tests, through the condition that the packages' exports name first. */
const conditions = ["@tau/source"];

/**
 * For a run of all tests, `scripts/test.mjs` compiles the sources once, and Node imports them as JavaScript. Otherwise Vite
 * compiles each file when it is imported: that is sooner ready for a few tests, and errors show lines of the sources, but what
 * tests do in them takes half as much processor time again, because each use of an import is a call.
 */
const compiledSources = process.env["TAU_COMPILED_SOURCES"];

function useCompiledSources(directory: string): Plugin {
  const packages = join(import.meta.dirname, "packages");
  const findCompiled = (id: string): string | undefined => {
    const path = relative(packages, id);
    if (!/^[\w-]+\/src\/.*\.ts$/.test(path)) return undefined;
    const compiled = join(directory, path.replace(/\.ts$/, ".mjs"));
    return existsSync(compiled) ? compiled : undefined;
  };
  return {
    name: "use-compiled-sources",
    enforce: "pre",
    async resolveId(source, importer, options) {
      // A source that Vite compiles, since it was imported with a query, has sources of its own.
      if (!importer || !/^(?:\.|\/|#|@tau\/)/.test(source) || findCompiled(importer.replace(/\?.*/, ""))) return null;
      const target = await this.resolve(source, importer, { ...options, skipSelf: true });
      return (target && findCompiled(target.id)) ?? target;
    },
  };
}

/**
 * Tests that run when no other test does. They measure wall time or race against processes that multiply: with another
 * test on the second processor, they would measure that test. No other test may depend on how fast the machine is.
 */
const alone = [
  "packages/cli/test/packed/speed.test.ts",
  "packages/tools/test/bombs.test.ts",
  "packages/tools/test/containment.test.ts",
  "packages/tools/test/speed.test.ts",
  // Nodes that are silent for a second are declared dead, and servers that are busy do not find their peers.
  "packages/cluster/test/{gateways,membership,permissions,sessions}.test.ts",
];

/** Short files whose tests take long. They begin first: one that begins last leaves the other worker without work. */
const longest = new RegExp(
  `packages/(?:${[
    "agent/test/laws/laws",
    "cli/test/(?:commands/packages|packed/(?:ending|extensions|program|types))",
    "cluster/test/faults",
    "config/test/installs/(?:hostile-archives|npm)",
    "extensions/test/isolated/(?:contract|hostile|isolated|isolated-life)",
    "features/test/(?:features|debug/behaviours|kernels/life|lsp/hostile-server|mcp/hostile-server|worktrees/(?:isolated|sweep))",
    "harness/test/(?:imports/hostile|policy/injections)",
    "sandbox/test/(?:escapes|network|session|sockets)",
    "tools/test/bash",
    "web/test/browser",
  ].join("|")})\\.test\\.ts$`,
);

/**
 * Makes V8 optimize code later, where it has the flag. Most code of tests runs for a short time: in tests of sessions and of the
 * terminal its optimization was a fifth of the processor time, in others less.
 */
const lateOptimization = "--interrupt-budget";
const v8Options = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
const execArgv = v8Options.includes(`${lateOptimization} `) ? [`${lateOptimization}=1000000`] : [];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const [first, rest] = [true, false].map((isLong) =>
      sorted.filter(({ moduleId }) => longest.test(moduleId) === isLong),
    );
    return [...first!, ...rest!];
  }
}

export default defineConfig({
  plugins: compiledSources === undefined ? [] : [useCompiledSources(compiledSources)],
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    pool: "forks",
    isolate: false,
    // Twice the processors of a small machine, because many tests wait for processes, timers and the disk.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    globalSetup: ["scripts/memory-directory.ts"],
    setupFiles: ["scripts/without-disk.ts", "scripts/same-cases.ts"],
    // Generous, because a busy machine is no failure. A condition that never comes is reported with its reason first.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 45_000, interval: 10 } },
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          execArgv,
          include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "scripts/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...alone],
        },
      },
      {
        extends: true,
        test: { name: "alone", include: alone, fileParallelism: false, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
