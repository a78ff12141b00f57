/**
 * Set up before all test files: `fsync` does not wait for the disk. No test cuts the power, and waiting took a large part of
 * the time of all tests. A descriptor that is not open fails as before. Programs that tests start wait, and with
 * `TAU_LONG=1` all do.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

if (!process.env["TAU_LONG"]) {
  const look = (descriptor: number, done: fs.NoParamCallback) => fs.fstat(descriptor, (error) => done(error));
  Object.assign(fs, { fsync: look, fdatasync: look });
  syncBuiltinESMExports();
}
