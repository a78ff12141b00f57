/**
 * Set up before each test file, so that tests do not wait for the disk, which took a large part of their time. No test cuts
 * the power. With `TAU_LONG=1` all of them wait.
 *
 * - `fsync` only looks at its descriptor: one that is not open fails as before. Programs that tests start wait.
 * - Some tests have their temporary files in the directory in memory that `memory-directory.ts` has made.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { expect } from "vitest";

/** Tests that write many files and neither show their paths nor ask a policy or a sandbox about them. */
const inMemory = new RegExp(
  [
    "packages/(config|gateway)/",
    "extensions/src/",
    "harness/test/(agent-session|extensions|torture)/",
    "tools/test/(create-tools|edit|files|find|hashline|kept|write)",
    "cli/test/commands/(?!completion|policy)",
  ].join("|"),
);

if (!process.env["TAU_LONG"]) {
  const look = (descriptor: number, done: fs.NoParamCallback) => fs.fstat(descriptor, (error) => done(error));
  Object.assign(fs, { fsync: look, fdatasync: look });
  syncBuiltinESMExports();
}

const { TAU_TEST_MEMORY: memory, TAU_TEST_DISK: disk } = process.env;
if (memory !== undefined) process.env["TMPDIR"] = inMemory.test(expect.getState().testPath!) ? memory : disk;
