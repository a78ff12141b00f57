/** Tasks for children that work side by side. */
export { agents } from "./feature.ts";
export type { ChildOpener, FanoutAgent, OpenedSession } from "./child.ts";
export type {
  Executor,
  FanoutOptions,
  FanoutOutput,
  FanoutResult,
  FanoutTask,
  Subagent,
  SubagentOptions,
  TaskEvent,
  TextStream,
} from "./contract.ts";
export { TaskFanout, type TaskFanoutParts } from "./fanout.ts";
export {
  type FinishOptions,
  type Isolated,
  type IsolatedOptions,
  type IsolatedResult,
  openIsolated,
} from "./worktrees/isolated.ts";
export {
  findWorktreeOrigin,
  listIdleWorktrees,
  openOwnWorktree,
  type OwnWorktree,
  type OwnWorktreeEnd,
  type OwnWorktreeOptions,
} from "./worktrees/own-worktree.ts";
export { type WorktreeHandle, WorktreeManager, type WorktreeManagerOptions } from "./worktrees/worktree-manager.ts";
export type { StandardSchemaOf } from "@tau/ai";
export { hostPrograms } from "../kit/host-programs.ts";
export { type GitOptions, type GitResult, runGit } from "../kit/run-git.ts";
