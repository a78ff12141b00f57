import { defineConfig } from "vitest/config";

/** Workspaces resolve to their sources in tests, through the condition that the packages' exports name first. */
const conditions = ["@tau/source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "scripts/**/*.test.ts"],
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    testTimeout: 20_000,
  },
});
