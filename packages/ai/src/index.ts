export { type Clock, type Ids, type Random, sleep, systemClock, systemIds, systemRandom } from "./clock.ts";
export type { Context, JsonSchema, Tool, ToolArguments, ToolParameters } from "./context.ts";
export { AiError, type AiErrorCode, isAiError } from "./errors.ts";
export type { AssistantMessageEvent } from "./event.ts";
export { AssistantMessageEventStream, createAssistantMessageEventStream, EventStream } from "./event-stream.ts";
export { type Failure, type FailureKind, isContextOverflow, isRetryable } from "./failure.ts";
export type {
  AssistantMessage,
  AssistantMessageDiagnostic,
  ImageContent,
  Message,
  StopReason,
  TextContent,
  ThinkingContent,
  ToolCall,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "./message.ts";
export {
  type AnthropicMessagesCompat,
  type Api,
  type BedrockCompat,
  type KnownApi,
  type Model,
  modelsAreEqual,
  type ModelThinkingLevel,
  type OpenAICompletionsCompat,
  type OpenAIResponsesCompat,
  type ProviderId,
  type ThinkingBudgets,
  type ThinkingLevel,
  type ThinkingLevelMap,
} from "./model.ts";
export type {
  CacheRetention,
  ProviderResponse,
  ProviderStreamOptions,
  SimpleStreamOptions,
  StreamOptions,
  ToolChoice,
  Transport,
} from "./options.ts";
export { parseStreamingJson } from "./protocols/streaming-json.ts";
export {
  type ApiProvider,
  clearApiProviders,
  getApiProvider,
  getApiProviders,
  registerApiProvider,
  type StreamFunction,
  unregisterApiProviders,
} from "./registry.ts";
export { complete, completeSimple, stream, streamSimple } from "./stream.ts";
export { clampThinkingLevel, getSupportedThinkingLevels, parseThinkingLevel } from "./thinking.ts";
export { calculateCost } from "./usage.ts";
export { findEnvKeys, getEnvApiKey } from "./auth/env-keys.ts";
