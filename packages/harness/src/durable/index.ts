/** Durable files, and changes of them that no other process disturbs. */
export { makeDirectory, namingFile, readWhole, syncDirectory, writeTextFile, writeWhole } from "../durable-file.ts";
export { withFileLease } from "../wait-for-lease.ts";
