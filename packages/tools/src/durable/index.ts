/** Durable files, and changes of them that no other process disturbs. */
export {
  formatReadFailure,
  formatWriteFailure,
  keepAs,
  makeDirectory,
  mustBeRegular,
  namingFile,
  orUndefined,
  readUpTo,
  readWhole,
  syncDirectory,
  type WholeFile,
  writeTextFile,
  writeWhole,
} from "./durable-file.ts";
export { holdLease, waitForLease, type WaitForLeaseOptions, withFileLease } from "./wait-for-lease.ts";
