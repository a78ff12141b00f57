export { type AccessRequest, capabilities, type Capability, type Target } from "./access.ts";
export type { ChangeFilesDetails, FileChange } from "./changes/change-files.ts";
export { createTools, defaultToolNames, toolNames, type Tools, type ToolsOptions } from "./create-tools.ts";
export { definitions, type ToolName } from "./definitions.ts";
export { ToolsError, type ToolsErrorCode } from "./errors.ts";
export { summariseChanges } from "./files/diff.ts";
export { createEditTool, type EditDetails } from "./files/edit.ts";
export { mergeLines } from "./files/merge-lines.ts";
export { applyChanges, countMatches, planEdits } from "./files/match.ts";
export { listExisting, resolvePath } from "./files/path.ts";
export type { SeenFiles } from "./files/seen-files.ts";
export { createFileQueue, type EditorPorts, type FileQueue } from "./files/file-queue.ts";
export { prepareImage } from "./files/image.ts";
export { type ImageFacts, inspectImage } from "./files/inspect-image.ts";
export { createLsTool, type LsDetails } from "./files/ls.ts";
export { createReadTool } from "./files/read.ts";
export type { ReadDetails } from "./files/show-lines.ts";
export { createWriteTool, type WriteDetails } from "./files/write.ts";
export type { HashlineChange, HashlinePorts } from "./hashline/edit-files.ts";
export { createHashlineEditTool } from "./hashline/hashline-edit.ts";
export { createHashlinePatchTool, type HashlinePatchDetails } from "./hashline/hashline-patch.ts";
export { createSnapshots, type SnapshotLimits, type Snapshots } from "./hashline/snapshots.ts";
export type {
  CommandEnd,
  CommandSandbox,
  ConfinedLimits,
  ConfinedProcess,
  SandboxEntry,
  SandboxRefusal,
  SandboxReport,
} from "./platform/command-sandbox.ts";
export {
  type Access,
  createFiles,
  createGuardedFiles,
  type Files,
  type FilesOptions,
  type Guard,
  type GuardedFile,
  type ReadableFile,
} from "./platform/files.ts";
export type { CommandTerminal, TerminalCommand } from "./platform/command-terminal.ts";
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
export type { OutlineSymbol, Syntax, SyntaxBlock, SyntaxOutline, SyntaxUnavailable } from "./platform/syntax.ts";
export { isWithin, mightBeWithin } from "./platform/within.ts";
export { listSourceFiles, type SourceFiles, type SourceQuery } from "./search/source-files.ts";
export { createFindTool, type FindDetails, type FindOptions } from "./search/find.ts";
export { createGrepTool, type GrepDetails, type GrepOptions } from "./search/grep.ts";
export { locateRipgrep, type LocateRipgrep, type SearchOptions } from "./search/ripgrep.ts";
export { type BashOptions, createBashTool } from "./shell/bash.ts";
export type { BashDetails } from "./shell/bash-details.ts";
export { cleanEnvironment } from "./shell/environment.ts";
export type { Job } from "./shell/job.ts";
export { createJobs, type Jobs, type JobsOptions } from "./shell/jobs.ts";
export { createJobsTool, type JobsDetails } from "./shell/jobs-tool.ts";
export type { Limits } from "./shell/limits.ts";
export type { Program } from "./shell/program.ts";
export { createSafeText } from "./shell/safe-text.ts";
export { createFirstProcess, findPidNamespace, type PidNamespace } from "./shell/pid-namespace.ts";
export type { DescribedTool, FileTouches, PromptGuideline, ToolCallContext, ToolDescription } from "./tool.ts";
export type {
  ToolBinding,
  ToolConfigField,
  ToolContext,
  ToolFacilities,
  ToolLifecycle,
  ToolSession,
  ToolLogLevel,
} from "./tool-lifecycle.ts";
export type { ResultView } from "@tau/protocol";
