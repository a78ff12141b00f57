export { findEnvKeys, getEnvApiKey } from "./auth/env-keys.ts";
export {
  type CatalogModelId,
  type CatalogProvider,
  getModel,
  getModels,
  getProviders,
  type KnownProvider,
  type ModelApi,
  type ModelDefinition,
  registerModels,
  unregisterModels,
} from "./catalog/catalog.ts";
export { type Clock, type Ids, type Random, systemClock, systemIds, systemRandom } from "./clock.ts";
export type { Context, JsonSchema, Tool, ToolArguments, ToolParameters } from "./context.ts";
export type { AI, ModelOptions, SelectedModel } from "./bind-model.ts";
export { createAI, type CreateAIOptions } from "./create-ai.ts";
export type {
  ChatCompletionResponse,
  ChatMessage,
  ChatUsage,
  CustomProviderOptions,
  Provider,
  ProviderAuth,
  ProviderModel,
  ProviderRequest,
  StreamChunk,
} from "./custom-definition.ts";
export { createProvider, type RegisteredProvider, registerProvider } from "./custom-provider.ts";
export { AiError, type AiErrorCode, isAiError } from "./errors.ts";
export type { AssistantMessageEvent } from "./event.ts";
export { AssistantMessageEventStream, createAssistantMessageEventStream, EventStream } from "./event-stream.ts";
export { type Failure, type FailureKind, isRetryable } from "./failure.ts";
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
  type InputLimits,
  type KnownApi,
  type Model,
  modelsAreEqual,
  type ModelThinkingLevel,
  type OpenAICompletionsCompat,
  type OpenAIResponsesCompat,
  type ProviderId,
  type ThinkingBudgets,
  type ThinkingLevel,
  type SamplingParams,
  type ThinkingLevelMap,
} from "./model.ts";
export type {
  CacheRetention,
  ProviderResponse,
  ProviderStreamOptions,
  SimpleStreamOptions,
  StreamOptions,
  OutputFormat,
  ToolChoice,
  Transport,
} from "./options.ts";
export type { AnthropicOptions } from "./protocols/anthropic-messages/options.ts";
export type { AnthropicEffort, AnthropicThinkingDisplay } from "./protocols/claude-thinking.ts";
export type { AzureOptions as AzureOpenAIResponsesOptions } from "./protocols/azure-openai-responses/index.ts";
export type { BedrockOptions } from "./protocols/bedrock-converse-stream/options.ts";
export type { GoogleOptions } from "./protocols/google-generative-ai/options.ts";
export type { GoogleVertexOptions } from "./protocols/google-vertex/endpoint.ts";
export type { MistralOptions } from "./protocols/mistral-conversations/options.ts";
export type { OpenAICompletionsOptions } from "./protocols/openai-completions/options.ts";
export type { OpenAIResponsesOptions } from "./protocols/openai-responses/options.ts";
export { isContextOverflow } from "./overflow.ts";
export type { Draft } from "./protocols/draft.ts";
export { defineProtocol, type Frame, type Protocol, type ProtocolRequest } from "./protocols/protocol.ts";
export { startRequest } from "./protocols/start.ts";
export { parseStreamingJson } from "./protocols/streaming-json.ts";
export {
  type ListLocalModelsOptions,
  listLocalModels,
  type LocalModels,
  type LocalProvider,
} from "./providers/local-servers.ts";
export {
  type ApiProvider,
  clearApiProviders,
  getApiProvider,
  getApiProviders,
  registerApiProvider,
  type StreamFunction,
  unregisterApiProviders,
} from "./registry.ts";
export type { OutputCheck, OutputOf, OutputSchema, StandardSchemaOf } from "./output/output-schema.ts";
export type { SchemaType } from "./schema/schema-type.ts";
export { optionalStringEnum, StringEnum } from "./schema/string-enum.ts";
export { complete, completeSimple, stream, streamSimple } from "./stream.ts";
export { clampThinkingLevel, getSupportedThinkingLevels, parseThinkingLevel } from "./thinking.ts";
export { calculateCost, emptyUsage } from "./usage.ts";
export { validateToolArguments, validateToolCall } from "./validate.ts";
