/** A client for the program in RPC mode, for Node. */
export { type ClientOptions, type ClientStreams, TauClient } from "./client.ts";
export { TauClientError, type TauClientErrorCode } from "./errors.ts";
export type {
  RpcAnswer,
  RpcBashResult,
  RpcCommandName,
  RpcCommands,
  RpcCompaction,
  RpcData,
  RpcDecision,
  RpcDisposition,
  RpcMessage,
  RpcModel,
  RpcParams,
  RpcQuestion,
  RpcQueueMode,
  RpcSlashCommand,
  RpcState,
  RpcStats,
  RpcThinkingLevel,
  RpcTreeNode,
} from "./rpc-commands.ts";
export { type RunningTau, type StartTauOptions, startTau } from "./start-tau.ts";
