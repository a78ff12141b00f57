/** Runs all tests and closes with one plain line that counts them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const directory = mkdtempSync(join(tmpdir(), "tau-test-"));
const report = join(directory, "report.json");
const { status } = spawnSync(
  process.execPath,
  [
    join(root, "node_modules", "vitest", "vitest.mjs"),
    "run",
    "--reporter=default",
    "--silent=passed-only",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: "inherit" },
);
const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, "utf8"));
rmSync(directory, { recursive: true });
console.log(`tests: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
process.exitCode = status === 0 && numPassedTests > 0 ? 0 : 1;
