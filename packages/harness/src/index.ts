export type { PromptOutcome, Submission } from "./agent-session/activity.ts";
export { AgentSession } from "./agent-session/agent-session.ts";
export type { AskChoice } from "./agent-session/approvals.ts";
export type { SessionOverrides } from "./agent-session/session-settings.ts";
export type { PromptContent } from "./agent-session/content.ts";
export { createAgentSession } from "./construct/create-agent-session.ts";
export { createAgent, type CreateAgentOptions, type SimpleAgent } from "./construct/create-agent.ts";
export type { Notice } from "./agent-session/notices.ts";
export type { AgentSessionParams } from "./construct/params.ts";
export type { PromptOptions, SteerOptions, SubmitOptions } from "./agent-session/prompts.ts";
export type { AgentSessionEvent } from "./run/publisher.ts";
export type { ContextUse, SessionStats } from "./session/stats.ts";
export type { BashResult } from "@tau/extensions/internal";
export { AuthStorage } from "@tau/config/auth";
export { Budget, type BudgetLimit, type BudgetLimits, createBudget } from "./budget/budget.ts";
export { HarnessError, type HarnessErrorCode } from "@tau/protocol";
export { ModelRegistry } from "@tau/config/models";
export { createDebugLog, type DebugLog, type DebugLogOptions } from "./observe/debug-log.ts";
export { findTracer } from "./observe/opentelemetry.ts";
export type { RequestSpan, RunSpan, ToolSpan, Tracer } from "./observe/trace.ts";
export { type DefinedTool, defineTool, type ToolCallScope, type ToolOptions } from "@tau/extensions/internal";
export type { ChannelBinding, DroppedTool, GivenTool, InputSchemaTool, PipelineTool } from "@tau/extensions/internal";
export {
  buildSystemPrompt,
  type PromptSection,
  type SystemPrompt,
  type SystemPromptInput,
} from "./prompt/system-prompt.ts";
export { listNamedAgents, loadNamedAgent, type NamedAgent } from "@tau/config/resources";
export { createResourceLoader, type ResourceLoader, type ResourceLoaderOptions } from "@tau/config/resources";
export type { Resources } from "@tau/config/resources";
export { recordRuns } from "./run/record.ts";
export type { RunOutcome } from "./run/run.ts";
export { isSilent } from "./run/silent.ts";
export { SessionManager } from "./session/session-manager.ts";
export { SettingsManager } from "@tau/config/settings";
