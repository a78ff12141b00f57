import { configDefaults, defineConfig } from "vitest/config";

/** Workspaces resolve to their sources in tests, through the condition that the packages' exports name first. */
const conditions = ["@tau/source"];

/** Races against processes that multiply: with another test on the second processor they would be about that. */
const alone = ["packages/tools/test/bombs.test.ts", "packages/tools/test/containment.test.ts"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    testTimeout: 20_000,
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
