export { ToolsError, type ToolsErrorCode } from "./errors.ts";
export { createReadTool, type ReadDetails } from "./files/read.ts";
export {
  type Access,
  createFiles,
  type Files,
  type FilesOptions,
  type Guard,
  type ReadableFile,
} from "./platform/files.ts";
export { type FileSystem, nodeFileSystem, type OpenHandle } from "./platform/file-system.ts";
export { acquireLease, type Lease, type LeaseHolder, type LeaseOptions, type LeaseOutcome } from "./platform/lease.ts";
export {
  createSpawn,
  type ExitStatus,
  type RunningProcess,
  type Spawn,
  type SpawnRequest,
  type WrapCommand,
} from "./platform/spawn.ts";
