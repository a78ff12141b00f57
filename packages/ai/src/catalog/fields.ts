/**
 * What this package does with every field and compat flag that occurs in the catalogue. A test walks all models and
 * fails on one that is missing here, and on one that no longer occurs; so nothing in the data is overlooked.
 */
import type {
  AnthropicMessagesCompat,
  BedrockCompat,
  KnownApi,
  Model,
  ModelCost,
  OpenAICompletionsCompat,
  OpenAIResponsesCompat,
} from "../model.ts";

/** `used` says where; `ignored` says why. */
export type FieldUse = { used: string } | { ignored: string };

/** The fields of a model, by their path. */
export const modelFields: Readonly<
  Partial<Record<Exclude<keyof Model, "provider">, FieldUse>> & Record<`cost.${keyof ModelCost}`, FieldUse>
> = {
  id: { used: "every protocol sends it as the model's name" },
  name: { used: "shown to people" },
  api: { used: "the registry picks the protocol by it" },
  baseUrl: { used: "where requests go; protocols/base-url.ts fills its placeholders" },
  reasoning: { used: "thinking.ts: a model without it has only the level off" },
  thinkingLevelMap: { used: "thinking.ts: the provider's words for the levels" },
  input: { used: "handoff.ts: images become a note for a model without vision" },
  cost: { used: "usage.ts" },
  "cost.input": { used: "usage.ts" },
  "cost.output": { used: "usage.ts" },
  "cost.cacheRead": { used: "usage.ts" },
  "cost.cacheWrite": { used: "usage.ts" },
  "cost.tiers": { used: "usage.ts" },
  contextWindow: { used: "protocols/silent-limits.ts and overflow.ts find overflows by it" },
  maxTokens: { used: "protocols that have to send a limit start from it" },
  compat: { used: "see compatFlags" },
};

/** Whose compat flags an API reads. APIs that are not named have none in the catalogue. */
export const compatFamilies = {
  "anthropic-messages": "anthropic-messages",
  "openai-completions": "openai-completions",
  "openai-responses": "openai-responses",
  "azure-openai-responses": "openai-responses",
  "openai-codex-responses": "openai-responses",
  "bedrock-converse-stream": "bedrock-converse-stream",
} as const satisfies Partial<Record<KnownApi, KnownApi>>;

export type CompatFamily = (typeof compatFamilies)[keyof typeof compatFamilies];

const oneSystemPrompt = "a context has one system prompt, so there is none to change in mid-conversation";
const oneToolList = "a context has one list of tools, sent whole with every request";
const oneEffort = "a request has one thinking level; it is not changed between messages";
const noSuchTools = "tools are functions with a JSON Schema; there is no such kind of tool yet";

/** The compat flags, by whose they are. */
export const compatFlags: {
  readonly "openai-completions": Partial<Record<keyof OpenAICompletionsCompat, FieldUse>>;
  readonly "openai-responses": Partial<Record<keyof OpenAIResponsesCompat, FieldUse>>;
  readonly "anthropic-messages": Partial<Record<keyof AnthropicMessagesCompat, FieldUse>>;
  readonly "bedrock-converse-stream": Partial<Record<keyof BedrockCompat, FieldUse>>;
} = {
  "openai-completions": {
    supportsStore: { used: "whether `store` is sent" },
    supportsDeveloperRole: { used: "the role of the system prompt" },
    supportsReasoningEffort: { used: "whether `reasoning_effort` is sent" },
    supportsUsageInStreaming: { used: "whether `stream_options` is sent" },
    supportsStrictMode: { used: "whether tools carry `strict`" },
    supportsLongCacheRetention: { used: "whether a long cache is asked for" },
    maxTokensField: { used: "the name of the limit" },
    thinkingFormat: { used: "how the model is told to think" },
    chatTemplateArgs: { used: "arguments of the chat template" },
    requiresReasoningContentOnAssistantMessages: { used: "whether replayed answers carry `reasoning_content`" },
    cacheControlFormat: { used: "whether cacheable prefixes are marked" },
    sendSessionAffinityHeaders: { used: "whether session headers are sent" },
    zaiToolStream: { used: "whether `tool_stream` is sent" },
    supportsMidConvoSystemMessages: { ignored: oneSystemPrompt },
    supportsMidConvoToolAdditions: { ignored: oneToolList },
  },
  "openai-responses": {
    supportsReasoningEffort: { used: "whether `reasoning.effort` is sent" },
    supportsStrictMode: { used: "whether tools carry `strict`" },
    supportsLongCacheRetention: { used: "whether a long cache is asked for" },
    supportsExplicitPromptCacheMode: { used: "how caching is asked for" },
    sessionAffinityFormat: { used: "which session headers are sent" },
    supportsOpenAIGrammarTools: { ignored: noSuchTools },
    supportsAdditionalTools: { ignored: noSuchTools },
    supportsToolSearch: { ignored: noSuchTools },
    supportsMidConvoSystemMessages: { ignored: oneSystemPrompt },
  },
  "anthropic-messages": {
    supportsEagerToolInputStreaming: { used: "how tool arguments are asked to stream" },
    supportsLongCacheRetention: { used: "whether a long cache is asked for" },
    supportsCacheControlOnTools: { used: "whether tools are marked as cacheable" },
    supportsTemperature: { used: "whether `temperature` is sent" },
    forceAdaptiveThinking: { used: "thinking by effort instead of budget" },
    allowEmptySignature: { used: "whether unsigned thinking is replayed" },
    supportsStrictTools: { used: "whether tools carry `strict`" },
    sendSessionAffinityHeaders: { used: "whether session headers are sent" },
    supportsMidConvoEffort: { ignored: oneEffort },
    supportsMidConvoSystemMessages: { ignored: oneSystemPrompt },
    supportsMidConvoToolChanges: { ignored: oneToolList },
  },
  "bedrock-converse-stream": {
    supportsStrictMode: { used: "whether tools carry `strict`" },
  },
};
