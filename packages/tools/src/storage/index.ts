/** The port of everything that has to outlive a process, with its implementations in files and in memory. */
export { closedError, closedOutcome } from "./closed.ts";
export { createFileStore, type FileStoreOptions, getBlobDirectory, getLogPath } from "./file-store.ts";
export { createMemoryStorage, createMemoryStore, MemoryLog, type MemoryStoreOptions } from "./memory-store.ts";
export { createRecordFiles, describeLogs, removeLog } from "./record-files.ts";
export { listNames, removeAll, removeLogFiles, toBusy, withLogLock } from "./side-files.ts";
export {
  type AcquireOutcome,
  type AppendOutcome,
  getLogId,
  type LogBusy,
  type LogCollection,
  type LogHolder,
  type LogKey,
  type LogStore,
  mustBeBlobName,
  splitLines,
  type RemoveOutcome,
  type Storage,
  type StoredLog,
} from "./storage.ts";
export { readLog, withLog } from "./with-log.ts";
