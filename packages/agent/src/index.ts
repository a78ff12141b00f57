export { Agent, type AgentListener, type AgentOptions } from "./agent.ts";
export { agentLoop, agentLoopContinue, resumeAgentLoop, runAgentLoop, runAgentLoopContinue } from "./agent-loop.ts";
export type { InitialAgentState } from "./agent-state.ts";
export { defaultConvertToLlm } from "./convert.ts";
export { AgentError, type AgentErrorCode } from "./errors.ts";
export { type ProxyAssistantMessageEvent, type ProxyStreamOptions, streamProxy } from "./proxy.ts";
export type { ProxyHandlerOptions } from "./proxy-exchange.ts";
export type { NodeRequest, NodeResponse } from "./node-http.ts";
export { createProxyHandler, type ProxyHandler } from "./proxy-handler.ts";
export type { QueueMode } from "./queue.ts";
export type {
  AfterToolCallContext,
  AfterToolCallResult,
  AgentContext,
  AgentEvent,
  AgentEventSink,
  AgentLoopConfig,
  AgentLoopTurnUpdate,
  AgentMessage,
  AgentState,
  AgentTool,
  AgentToolCall,
  AgentToolResult,
  AgentToolUpdate,
  AgentToolUpdateCallback,
  BeforeToolCallContext,
  BeforeToolCallResult,
  CustomAgentMessages,
  NestedCallOptions,
  PrepareNextTurnContext,
  RunningToolCall,
  ShouldStopAfterTurnContext,
  StreamFn,
  ThinkingLevel,
  ToolCallOutcome,
  ToolExecutionMode,
  TurnContext,
} from "./types.ts";
