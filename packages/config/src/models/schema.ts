/** The fields of `models.json`, as pi has them. */
import type {
  InputLimits,
  Model,
  ModelThinkingLevel,
  OpenAICompletionsCompat,
  SamplingParams,
  ThinkingLevelMap,
} from "@tau/ai";
import { thinkingLevels } from "@tau/ai/internal";
import type { Field, OptionalField, Path } from "../fields/field.ts";
import {
  between,
  decimal,
  flag,
  jsonObject,
  list,
  map,
  nonEmptyText,
  nullable,
  object,
  oneOf,
  optional,
  scalar,
  text,
  transform,
  url,
  wholeNumber,
} from "../fields/kinds.ts";

/** Differences of a server from the standard API. */
export type Compat = Record<string, unknown>;

/** Changes to an existing model. */
export interface ModelOverride {
  name?: string;
  reasoning?: boolean;
  thinkingLevelMap?: ThinkingLevelMap;
  input?: Model["input"];
  cost?: Partial<Model["cost"]>;
  contextWindow?: number;
  maxTokens?: number;
  /** By name in lower case. Values are as written: some have to be resolved. */
  headers?: Map<string, string>;
  compat?: Compat;
  inputLimits?: InputLimits;
  promptCache?: Model["promptCache"];
  samplingParams?: SamplingParams;
  samplingParamsByThinkingLevel?: Model["samplingParamsByThinkingLevel"];
}

/** A new model, or one that replaces the model with the same id. */
export interface ModelEntry extends ModelOverride {
  id: string;
  api?: string;
  baseUrl?: string;
  /** Where it is in the file. */
  path: Path;
}

export interface ProviderConfig {
  name?: string;
  baseUrl?: string;
  /** The key as written: a literal, `$NAME`, `${NAME}` or `!command`. */
  apiKey?: string;
  api?: string;
  headers?: Map<string, string>;
  compat?: Compat;
  /** Also send the key as `Authorization: Bearer`. */
  authHeader?: boolean;
  models?: ModelEntry[];
  modelOverrides?: Map<string, ModelOverride>;
  /** Its models take the place of all that the provider has otherwise. Default false. */
  replacesModels?: boolean;
  /** Where it is in the file. */
  path: Path;
}

const notUsed = "is not used by tau yet.";

export const tokens = wholeNumber({ min: 1, unit: "tokens" });
const price = decimal({ min: 0, unit: "dollars per million tokens" });

/** Null means that the model does not have the level. */
export const thinkingLevelMap: Field<ThinkingLevelMap> = object(
  Object.fromEntries(thinkingLevels.map((level) => [level, optional(nullable(text))])) as Record<
    ModelThinkingLevel,
    OptionalField<string | null>
  >,
);

const rates = {
  input: optional(price),
  output: optional(price),
  cacheRead: optional(price),
  cacheWrite: optional(price),
};

type Tier = NonNullable<Model["cost"]["tiers"]>[number];

/** A tier applies only with its prices: part of a price list would give wrong costs. */
const tier: Field<Tier> = transform(
  object({ ...rates, inputTokensAbove: decimal({ min: 0, unit: "tokens" }), input: price, output: price }),
  (prices) => ({ cacheRead: 0, cacheWrite: 0, ...prices }),
);

const cost: Field<Partial<Model["cost"]>> = object({ ...rates, tiers: optional(list(tier)) });

const headerValue = scalar({
  expected: "one line of text that is not empty",
  type: "string",
  schema: { type: "string" },
  accepts: (value): value is string => typeof value === "string" && value.trim() !== "" && !/[\r\n\0]/.test(value),
});

const isHeaderName = (name: string) => /^[!#$%&'*+.^`|~\w-]+$/.test(name);

/** Names in lower case, so that a header of a model replaces the same one of its provider. */
export const headers = transform(
  map(headerValue, { refuseName: (name) => (isHeaderName(name) ? undefined : "cannot be the name of a header.") }),
  (values) => new Map([...values].map(([name, value]) => [name.toLowerCase(), value])),
);

type ThinkingFormat = NonNullable<OpenAICompletionsCompat["thinkingFormat"]>;

const flags = [
  ..."supportsStore supportsDeveloperRole supportsReasoningEffort supportsUsageInStreaming supportsTools".split(" "),
  ..."supportsStrictMode requiresToolResultName requiresAssistantAfterToolResult requiresThinkingAsText".split(" "),
  ..."requiresReasoningContentOnAssistantMessages zaiToolStream supportsLongCacheRetention".split(" "),
  ..."supportsPromptCacheKey sendSessionAffinityHeaders supportsMidConvoSystemMessages".split(" "),
  ..."supportsMidConvoToolAdditions supportsMidConvoEffort supportsMidConvoToolChanges".split(" "),
  ..."supportsExplicitPromptCacheMode supportsOpenAIGrammarTools supportsAdditionalTools supportsToolSearch".split(" "),
  ..."supportsEagerToolInputStreaming supportsCacheControlOnTools supportsTemperature".split(" "),
  ..."forceAdaptiveThinking allowEmptySignature supportsStrictTools supportsFinishReason".split(" "),
  ..."supportsThinkingTokenBudget supportsMaxOutputTokens supportsOutputFormat".split(" "),
];

const anyNumber = scalar({
  expected: "a number",
  type: "number",
  schema: { type: "number" },
  accepts: (value): value is number => Number.isFinite(value),
});

const unusedCompat = ["allowedFallbackModels", "imageInput", "sendImageOptInHeader"];

export const compatFields = {
  ...Object.fromEntries(flags.map((name) => [name, optional(flag)])),
  maxTokensField: optional(oneOf("max_completion_tokens", "max_tokens")),
  toolCallIdFormat: optional(oneOf("openai", "mistral", "any")),
  thinkingFormat: optional(
    oneOf<ThinkingFormat>(
      ...(["openai", "openrouter", "deepseek", "zai", "qwen", "qwen-chat-template"] as const),
      ...(["together", "baseten", "ant-ling", "string-thinking", "chat-template"] as const),
    ),
  ),
  thinkingTokenBudgetField: optional(oneOf("thinking_token_budget", "thinking_budget", "thinking_budget_tokens")),
  vllmPriority: optional(anyNumber),
  cacheControlFormat: optional(oneOf("anthropic")),
  sessionAffinityFormat: optional(oneOf("openai", "openai-nosession", "openrouter")),
  chatTemplateArgs: optional(jsonObject),
  chatTemplateKwargs: optional(jsonObject),
  openRouterRouting: optional(jsonObject),
  vercelGatewayRouting: optional(jsonObject),
};

const compat: Field<Compat> = object(compatFields, {
  unused: Object.fromEntries(unusedCompat.map((name) => [name, notUsed])),
});

const bytes = wholeNumber({ min: 1, unit: "bytes" });
const images = wholeNumber({ min: 1, unit: "images" });
const pixels = wholeNumber({ min: 1, unit: "pixels" });

export const inputLimits: Field<InputLimits> = object({
  maxRequestBytes: optional(bytes),
  images: optional(
    object({
      maxPerRequest: optional(images),
      maxPerMessage: optional(images),
      resize: optional(
        object({
          maxWidth: optional(pixels),
          maxHeight: optional(pixels),
          maxBytes: optional(bytes),
          jpegQuality: optional(between(1, 100, "percent")),
        }),
      ),
    }),
  ),
});

/** Keys of the levels, not the provider's values for them. */
const samplingParamsByThinkingLevel: Field<NonNullable<Model["samplingParamsByThinkingLevel"]>> = object(
  Object.fromEntries(thinkingLevels.map((level) => [level, optional(jsonObject)])) as Record<
    ModelThinkingLevel,
    OptionalField<SamplingParams>
  >,
);

const seconds = wholeNumber({ min: 1, unit: "seconds" });

const overrideFields = {
  name: optional(nonEmptyText),
  reasoning: optional(flag),
  thinkingLevelMap: optional(thinkingLevelMap),
  input: optional(list(oneOf("text", "image"))),
  cost: optional(cost),
  contextWindow: optional(tokens),
  maxTokens: optional(tokens),
  headers: optional(headers),
  compat: optional(compat),
  inputLimits: optional(inputLimits),
  promptCache: optional(object({ short: optional(seconds), long: optional(seconds) })),
  samplingParams: optional(jsonObject),
  samplingParamsByThinkingLevel: optional(samplingParamsByThinkingLevel),
};

/** The object, with where it is in the file. */
const withPath = <T extends object>(field: Field<T>): Field<T & { path: Path }> =>
  transform(field, (value, path) => ({ ...value, path }));

const createModelEntry = (baseUrl: Field<string>): Field<ModelEntry> =>
  withPath(
    object(
      { ...overrideFields, id: nonEmptyText, api: optional(nonEmptyText), baseUrl: optional(baseUrl) },
      // In pi it marks models for other purposes than conversations.
      { unused: { type: "" } },
    ),
  );

/** Creates the field for a list of models. If two have the same id, the last applies. */
const createModelEntries = (baseUrl: Field<string>) =>
  transform(list(createModelEntry(baseUrl)), (entries) => [
    ...new Map(entries.map((entry) => [entry.id, entry])).values(),
  ]);

const createProvider = (baseUrl: Field<string>): Field<ProviderConfig> =>
  withPath(
    object(
      {
        name: optional(nonEmptyText),
        baseUrl: optional(baseUrl),
        apiKey: optional(nonEmptyText),
        api: optional(nonEmptyText),
        headers: optional(headers),
        compat: optional(compat),
        authHeader: optional(flag),
        models: optional(createModelEntries(baseUrl)),
        modelOverrides: optional(map<ModelOverride>(object(overrideFields))),
      },
      { unused: { oauth: notUsed } },
    ),
  );

const createModelsFile = (baseUrl: Field<string>) =>
  object({ providers: optional(map(createProvider(baseUrl))) }, { unused: { $schema: "" } });

/** The whole file. */
export const modelsFile = createModelsFile(url);

/** Creates the schema of a provider that sends its requests itself: its address is a text that nobody else reads. */
export const createOwnModelsFile = () => createModelsFile(text);
