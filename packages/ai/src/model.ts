export type KnownApi =
  | "anthropic-messages"
  | "openai-completions"
  | "openai-responses"
  | "azure-openai-responses"
  | "openai-codex-responses"
  | "google-generative-ai"
  | "google-vertex"
  | "mistral-conversations"
  | "bedrock-converse-stream";

/** The name of a wire protocol; custom ones are registered with `registerApiProvider`. */
export type Api = KnownApi | (string & {});

/** The name of the service that hosts a model. `KnownProvider` (in `catalog/`) lists the built-in ones. */
export type ProviderId = string;

/** How much a model should think. Some models do not support `off`. */
export type ModelThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
export type ThinkingLevel = Exclude<ModelThinkingLevel, "off">;

/** The provider's value for each level. A missing key means the protocol's default value; `null` means not supported. */
export type ThinkingLevelMap = { [Level in ModelThinkingLevel]?: string | null };

/** Fields of a request that tau does not know, such as `top_k`. They are sent as they are. */
export type SamplingParams = Record<string, unknown>;

/** Token budgets by level, for models that think by budget. */
export interface ThinkingBudgets {
  minimal?: number;
  low?: number;
  medium?: number;
  high?: number;
}

/** US dollars for a million tokens. */
interface ModelCostRates {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** Above `inputTokensAbove` prompt tokens, the whole request is billed at the tier's rates. */
export interface ModelCost extends ModelCostRates {
  tiers?: (ModelCostRates & { inputTokensAbove: number })[];
}

/** A value in a chat template's arguments: constant, or filled in from the request's thinking level. */
export type ChatTemplateValue =
  | string
  | number
  | boolean
  | null
  | { $var: "thinking.enabled" | "thinking.effort" | "thinking.budget"; omitWhenOff?: boolean };

/** The request fields with which an OpenAI-compatible server controls thinking. */
export type ThinkingFormat =
  | "openai"
  | "openrouter"
  | "deepseek"
  | "zai"
  | "qwen"
  | "qwen-chat-template"
  | "together"
  | "baseten"
  | "ant-ling"
  | "string-thinking"
  | "chat-template";

/** Which headers mark requests as belonging to one session, so that they reach the same prompt cache. */
export type SessionAffinityFormat = "openai" | "openai-nosession" | "openrouter";

/** How servers with OpenAI's chat completions API differ. Unset flags come from `providers/host-defaults.ts`. */
export interface OpenAICompletionsCompat {
  /** Accepts `store`. Default true. */
  supportsStore?: boolean;
  /** For reasoning models the system prompt is sent with the role `developer`. Default true. */
  supportsDeveloperRole?: boolean;
  /** Accepts `reasoning_effort`. Default true. */
  supportsReasoningEffort?: boolean;
  /** Accepts `stream_options.include_usage`. Default true. */
  supportsUsageInStreaming?: boolean;
  /** Sends `finish_reason`. If false, an answer is complete when its stream ends. Default true. */
  supportsFinishReason?: boolean;
  /** Accepts `tools`. If false, tools are left out with a diagnostic. Default true. */
  supportsTools?: boolean;
  /** Accepts `strict` on tools. Default true. */
  supportsStrictMode?: boolean;
  /** Accepts a schema as `response_format`. Default false, but true for OpenAI and xAI. */
  supportsOutputFormat?: boolean;
  /** Default `max_completion_tokens`. */
  maxTokensField?: "max_completion_tokens" | "max_tokens";
  /** `tool` messages carry the tool's `name`. Default false. */
  requiresToolResultName?: boolean;
  /** A user message may not follow a tool result directly. Default false. */
  requiresAssistantAfterToolResult?: boolean;
  /** Thinking is replayed as text. Default false. */
  requiresThinkingAsText?: boolean;
  /** While thinking is on, replayed assistant messages carry `reasoning_content`, even if empty. Default false. */
  requiresReasoningContentOnAssistantMessages?: boolean;
  /** The format of tool call ids; ids in another format are rewritten. Default `openai` (at most 40 characters). */
  toolCallIdFormat?: "openai" | "mistral" | "any";
  /** Default `openai`. */
  thinkingFormat?: ThinkingFormat;
  /** The field for the thinking budget in tokens: vLLM, Qwen and SGLang, llama.cpp. Default: none is sent. */
  thinkingTokenBudgetField?: "thinking_token_budget" | "thinking_budget" | "thinking_budget_tokens";
  /** Another way to set `thinkingTokenBudgetField` to `thinking_token_budget`. Default false. */
  supportsThinkingTokenBudget?: boolean;
  /** vLLM's scheduling priority, sent as `priority`; lower values are served earlier. Default: the server's. */
  vllmPriority?: number;
  /** Arguments of the server's chat template, sent as `chat_template_args`. */
  chatTemplateArgs?: Record<string, ChatTemplateValue>;
  /** Arguments of the server's chat template, sent as `chat_template_kwargs`. */
  chatTemplateKwargs?: Record<string, ChatTemplateValue>;
  /** Sends `tool_stream: true`, so that z.ai streams tool arguments. Default false. */
  zaiToolStream?: boolean;
  /** Marks cacheable prefixes with Anthropic's `cache_control`. Default: no markers. */
  cacheControlFormat?: "anthropic";
  /** Accepts a cache retention longer than the default. Default true. */
  supportsLongCacheRetention?: boolean;
  /** Accepts `prompt_cache_key` with any cache retention. Default false. */
  supportsPromptCacheKey?: boolean;
  /** Sends session-affinity headers. Default false. */
  sendSessionAffinityHeaders?: boolean;
  /** Default `openai`. */
  sessionAffinityFormat?: SessionAffinityFormat;
  /** OpenRouter's `provider` routing preferences. */
  openRouterRouting?: Record<string, unknown>;
  /** Vercel AI Gateway's routing preferences. */
  vercelGatewayRouting?: { only?: string[]; order?: string[] };
  supportsMidConvoSystemMessages?: boolean;
  supportsMidConvoToolAdditions?: boolean;
}

export interface OpenAIResponsesCompat {
  /** For reasoning models the system prompt is sent with the role `developer`. Default true. */
  supportsDeveloperRole?: boolean;
  /** Accepts `reasoning.effort`. Default true. */
  supportsReasoningEffort?: boolean;
  /** Accepts `max_output_tokens`. Default true. */
  supportsMaxOutputTokens?: boolean;
  /** Accepts `prompt_cache_retention: "24h"`. Default true. */
  supportsLongCacheRetention?: boolean;
  /** Needs explicit `prompt_cache_options` instead of implicit caching. Default false. */
  supportsExplicitPromptCacheMode?: boolean;
  /** Accepts `strict` on tools. Default true. */
  supportsStrictMode?: boolean;
  /** Default `openai`: `session_id` and `x-client-request-id` headers. */
  sessionAffinityFormat?: SessionAffinityFormat;
  supportsTools?: boolean;
  supportsOpenAIGrammarTools?: boolean;
  supportsAdditionalTools?: boolean;
  supportsToolSearch?: boolean;
  supportsMidConvoEffort?: boolean;
  supportsMidConvoSystemMessages?: boolean;
}

export interface AnthropicMessagesCompat {
  /** Accepts `eager_input_streaming` on tools. If false, the older beta header is sent. Default true. */
  supportsEagerToolInputStreaming?: boolean;
  /** Accepts `cache_control.ttl: "1h"`. Default true. */
  supportsLongCacheRetention?: boolean;
  /** Accepts `cache_control` on tools. Default true. */
  supportsCacheControlOnTools?: boolean;
  /** Accepts `temperature`. Default true. */
  supportsTemperature?: boolean;
  /** Thinking is controlled by an effort instead of a token budget. Default false. */
  forceAdaptiveThinking?: boolean;
  /** Thinking blocks have no signature and are accepted back without one. Default false. */
  allowEmptySignature?: boolean;
  /** Accepts `strict` on tools. Default false. */
  supportsStrictTools?: boolean;
  /** Sends session-affinity headers. Default false. */
  sendSessionAffinityHeaders?: boolean;
  sessionAffinityFormat?: SessionAffinityFormat;
  supportsTools?: boolean;
  supportsMidConvoEffort?: boolean;
  supportsMidConvoSystemMessages?: boolean;
  supportsMidConvoToolChanges?: boolean;
  /** The models that the provider may answer with instead, if a request allows it. No request does. */
  allowedFallbackModels?: { provider: string; model: string; cost: ModelCost }[];
}

export interface BedrockCompat {
  /** Accepts `strict` on tools. Default false. */
  supportsStrictMode?: boolean;
  supportsTools?: boolean;
}

interface GenericCompat {
  supportsTools?: boolean;
}

/** The compat flags of an API. */
type CompatOf<TApi extends Api> = TApi extends "openai-completions"
  ? OpenAICompletionsCompat
  : TApi extends "openai-responses" | "azure-openai-responses" | "openai-codex-responses"
    ? OpenAIResponsesCompat
    : TApi extends "anthropic-messages"
      ? AnthropicMessagesCompat
      : TApi extends "bedrock-converse-stream"
        ? BedrockCompat
        : GenericCompat;

/** The largest requests that a provider accepts. An absent limit is unknown. */
export interface InputLimits {
  /** A longer request is not sent: it fails as a context overflow, as the provider's own refusal does. */
  maxRequestBytes?: number;
  images?: {
    /** The oldest images of a longer history are replaced by a note. */
    maxPerRequest?: number;
    /** Further images of a message are replaced by a note. */
    maxPerMessage?: number;
    /** How large an image may be that a tool reads: pixels, bytes of its base64, and a quality from 1 to 100. */
    resize?: { maxWidth?: number; maxHeight?: number; maxBytes?: number; jpegQuality?: number };
  };
}

/** A model, as plain data. */
export interface Model<TApi extends Api = Api> {
  id: string;
  name: string;
  api: TApi;
  provider: ProviderId;
  /** May contain `{NAME}` placeholders, which are filled from the environment for each request. */
  baseUrl: string;
  reasoning: boolean;
  thinkingLevelMap?: ThinkingLevelMap;
  input: ("text" | "image")[];
  cost: ModelCost;
  /** Maximum tokens of prompt and answer together. */
  contextWindow: number;
  /** Maximum tokens of the answer. */
  maxTokens: number;
  /** Sent with every request to this model. */
  headers?: Record<string, string>;
  /** How long the first token may take; local servers read long prompts slowly. Default: the request's idle timeout. */
  firstTokenTimeoutMs?: number;
  compat?: CompatOf<TApi>;
  /** Sent with every request, after all other fields. Only OpenAI-compatible APIs apply it. */
  samplingParams?: SamplingParams;
  /** Fields of `samplingParams` that differ at a thinking level. */
  samplingParamsByThinkingLevel?: { [Level in ModelThinkingLevel]?: SamplingParams };
  inputLimits?: InputLimits;
  /** Seconds for which the provider keeps a cached prefix, by the requested retention. */
  promptCache?: { short?: number; long?: number };
  /** The provider no longer offers it, as far as is known. It is not listed; its properties are the last known ones. */
  isRetired?: boolean;
  /** The catalogue does not have it: its limits, its price and what it can do are assumed. */
  isUnlisted?: boolean;
}

/** Whether two models are the same one: same provider, same id. */
export function modelsAreEqual(a: Model | null | undefined, b: Model | null | undefined): boolean {
  return !!a && !!b && a.provider === b.provider && a.id === b.id;
}
