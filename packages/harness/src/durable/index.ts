/** Durable files, and changes of them that no other process disturbs. */
export { makeDirectory, readWhole, syncDirectory, writeTextFile, writeWhole } from "../durable-file.ts";
export { withFileLease } from "../wait-for-lease.ts";
