/**
 * How this package uses every field and compat flag of the catalogue. A test over all models fails if a field is missing
 * here or no longer occurs, so that no field of the data is overlooked.
 */
import type {
  AnthropicMessagesCompat,
  BedrockCompat,
  KnownApi,
  Model,
  ModelCost,
  OpenAICompletionsCompat,
  OpenAIResponsesCompat,
} from "../src/model.ts";

/** `used`: where or for what. `ignored`: why. */
export type FieldUse = { used: string } | { ignored: string };

/** The fields of a model, by their path. */
export const modelFields: Readonly<
  Partial<Record<Exclude<keyof Model, "provider">, FieldUse>> & Record<`cost.${keyof ModelCost}`, FieldUse>
> = {
  id: { used: "sent by every protocol as the model's name" },
  name: { used: "shown to the user" },
  api: { used: "selects the protocol in the registry" },
  baseUrl: { used: "the URL for requests; protocols/base-url.ts fills its placeholders" },
  reasoning: { used: "thinking.ts: a model without it supports only the level off" },
  thinkingLevelMap: { used: "thinking.ts: the provider's values for the levels" },
  input: { used: "handoff.ts: images become a note for a model without vision" },
  cost: { used: "usage.ts" },
  "cost.input": { used: "usage.ts" },
  "cost.output": { used: "usage.ts" },
  "cost.cacheRead": { used: "usage.ts" },
  "cost.cacheWrite": { used: "usage.ts" },
  "cost.tiers": { used: "usage.ts" },
  contextWindow: { used: "protocols/silent-limits.ts and overflow.ts detect overflows with it" },
  maxTokens: { used: "the limit of protocols that require one" },
  compat: { used: "see compatFlags" },
  headers: { used: "protocols/http-exchange.ts: sent once, in place of the provider's own with the same name" },
  inputLimits: { used: "handoff.ts: images beyond the limits become notes; protocols/run.ts: the size of a request" },
  promptCache: {
    ignored: "the provider decides when a prefix expires; no request depends on the time since the last one",
  },
};

/** The API whose compat flags an API shares. APIs that are not listed have no flags in the catalogue. */
export const compatFamilies = {
  "anthropic-messages": "anthropic-messages",
  "openai-completions": "openai-completions",
  "openai-responses": "openai-responses",
  "azure-openai-responses": "openai-responses",
  "openai-codex-responses": "openai-responses",
  "bedrock-converse-stream": "bedrock-converse-stream",
} as const satisfies Partial<Record<KnownApi, KnownApi>>;

export type CompatFamily = (typeof compatFamilies)[keyof typeof compatFamilies];

const oneSystemPrompt = "a context has one system prompt, which cannot change within a conversation";
const oneToolList = "a context has one list of tools, which is sent with every request";
const oneEffort = "a request has one thinking level, which cannot change between messages";
const noSuchTools = "all tools are functions with a JSON Schema; other kinds of tools are not supported";

/** The compat flags by family. */
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
    supportsStrictMode: { used: "whether tools have `strict`" },
    supportsLongCacheRetention: { used: "whether a long cache retention is requested" },
    maxTokensField: { used: "the name of the field for the limit" },
    thinkingFormat: { used: "which fields control thinking" },
    chatTemplateArgs: { used: "arguments of the chat template" },
    requiresReasoningContentOnAssistantMessages: { used: "whether replayed answers have `reasoning_content`" },
    cacheControlFormat: { used: "whether cacheable prefixes are marked" },
    sendSessionAffinityHeaders: { used: "whether session headers are sent" },
    zaiToolStream: { used: "whether `tool_stream` is sent" },
    supportsMidConvoSystemMessages: { ignored: oneSystemPrompt },
    supportsMidConvoToolAdditions: { ignored: oneToolList },
  },
  "openai-responses": {
    supportsReasoningEffort: { used: "whether `reasoning.effort` is sent" },
    supportsStrictMode: { used: "whether tools have `strict`" },
    supportsLongCacheRetention: { used: "whether a long cache retention is requested" },
    supportsExplicitPromptCacheMode: { used: "which fields control caching" },
    sessionAffinityFormat: { used: "which session headers are sent" },
    supportsOpenAIGrammarTools: { ignored: noSuchTools },
    supportsAdditionalTools: { ignored: noSuchTools },
    supportsToolSearch: { ignored: noSuchTools },
    supportsMidConvoEffort: { ignored: oneEffort },
    supportsMidConvoSystemMessages: { ignored: oneSystemPrompt },
  },
  "anthropic-messages": {
    supportsEagerToolInputStreaming: { used: "how streaming of tool arguments is requested" },
    supportsLongCacheRetention: { used: "whether a long cache retention is requested" },
    supportsCacheControlOnTools: { used: "whether tools are marked as cacheable" },
    supportsTemperature: { used: "whether `temperature` is sent" },
    forceAdaptiveThinking: { used: "thinking by effort instead of budget" },
    allowEmptySignature: { used: "whether unsigned thinking is replayed" },
    supportsStrictTools: { used: "whether tools have `strict`" },
    sendSessionAffinityHeaders: { used: "whether session headers are sent" },
    supportsMidConvoEffort: { ignored: oneEffort },
    supportsMidConvoSystemMessages: { ignored: oneSystemPrompt },
    supportsMidConvoToolChanges: { ignored: oneToolList },
    allowedFallbackModels: {
      ignored: "if the user chose a model, no other one answers; so no request allows a fallback",
    },
  },
  "bedrock-converse-stream": {
    supportsStrictMode: { used: "whether tools have `strict`" },
  },
};
