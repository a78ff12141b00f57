import { configDefaults, defineConfig } from "vitest/config";

/** Workspaces resolve to their sources in tests, through the condition that the packages' exports name first. */
const conditions = ["@tau/source"];

/**
 * Tests that run when no other test does. They measure wall time or race against processes that multiply: with another
 * test on the second processor, they would measure that test. No other test may depend on how fast the machine is.
 */
const alone = [
  "packages/cli/test/packed/speed.test.ts",
  "packages/tools/test/bombs.test.ts",
  "packages/tools/test/containment.test.ts",
  "packages/tools/test/speed.test.ts",
];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    setupFiles: ["scripts/without-disk-sync.ts"],
    // Generous, because a busy machine is no failure. A condition that never comes is reported with its reason first.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 45_000, interval: 10 } },
    projects: [
      {
        extends: true,
        test: {
          name: "together",
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
