/** The fields of `models.json`, as pi has them, and how each is read. */
import type { Model, ModelThinkingLevel, OpenAICompletionsCompat, ThinkingLevelMap } from "@tau/ai";
import type { Node } from "jsonc-parser";
import {
  anyObject,
  type Fields,
  flag,
  toList,
  mapSetting,
  object,
  oneOf,
  type Path,
  price,
  type Reader,
  type Report,
  text,
  tokens,
  url,
  word,
} from "./fields.ts";

/** Quirks of a server, for whichever API reads them. */
export type Compat = Record<string, unknown>;

/** What can be said of a model that exists. */
export interface ModelOverride {
  name?: string;
  reasoning?: boolean;
  thinkingLevelMap?: ThinkingLevelMap;
  input?: Model["input"];
  cost?: Partial<Model["cost"]>;
  contextWindow?: number;
  maxTokens?: number;
  /** By name in lower case. As written: a value may have to be resolved. */
  headers?: Map<string, string>;
  compat?: Compat;
}

/** A model that is added, or takes the place of one with the same id. */
export interface ModelEntry extends ModelOverride {
  id: string;
  api?: string;
  baseUrl?: string;
  /** Where it is in the file. */
  line: number;
}

export interface ProviderConfig {
  name?: string;
  baseUrl?: string;
  /** As written: a literal, `$NAME`, `${NAME}` or `!command`. */
  apiKey?: string;
  api?: string;
  headers?: Map<string, string>;
  compat?: Compat;
  /** Sends the key as `Authorization: Bearer` besides where the API has it. */
  authHeader?: boolean;
  models?: ModelEntry[];
  modelOverrides?: Map<string, ModelOverride>;
  line: number;
}

/** What the readers need of the parser. */
export interface Located {
  formatLine(node: Node): number;
  getValue(node: Node): unknown;
}

const notUsed = "tau does not use this yet.";

const levels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const satisfies ModelThinkingLevel[];

const thinkingLevelMap = object<Record<ModelThinkingLevel, string | null>>(
  Object.fromEntries(levels.map((level) => [level, word])) as Fields<Record<ModelThinkingLevel, string>>,
);

const rates = { input: price, output: price, cacheRead: price, cacheWrite: price };

type Tier = NonNullable<Model["cost"]["tiers"]>[number];

/** A tier counts only whole: half a price list would be wrong in silence. */
const tier: Reader<Tier> = (node, path, report) => {
  const read = object<Tier>({ ...rates, inputTokensAbove: price })(node, path, report);
  const { inputTokensAbove, input, output, cacheRead, cacheWrite } = read ?? {};
  if (inputTokensAbove !== undefined && input !== undefined && output !== undefined)
    return { inputTokensAbove, input, output, cacheRead: cacheRead ?? 0, cacheWrite: cacheWrite ?? 0 };
  if (read) report(node, path, "A tier needs inputTokensAbove, input and output. It is left out.");
  return undefined;
};

const cost = object<Required<Model["cost"]>>({ ...rates, tiers: toList(tier) });

/** Names in lower case, so that one in a model takes the place of the same in its provider. */
const headers: Reader<Map<string, string>> = (node, path, report) => {
  const read = mapSetting(headerValue)(node, path, report);
  if (!read) return undefined;
  const valid = [...read].filter(([name]) => {
    const isName = /^[!#$%&'*+.^`|~\w-]+$/.test(name);
    if (!isName) report(node, [...path, name], "This cannot be the name of a header. It is left out.");
    return isName;
  });
  return new Map(valid.map(([name, value]) => [name.toLowerCase(), value]));
};

const headerValue: Reader<string> = (node, path, report) => {
  const value = text(node, path, report);
  if (value === undefined || !/[\r\n\0]/.test(value)) return value;
  report(node, path, "A header is one line. It is left out.");
  return undefined;
};

type ThinkingFormat = NonNullable<OpenAICompletionsCompat["thinkingFormat"]>;

const flags = [
  ..."supportsStore supportsDeveloperRole supportsReasoningEffort supportsUsageInStreaming supportsTools".split(" "),
  ..."supportsStrictMode requiresToolResultName requiresAssistantAfterToolResult requiresThinkingAsText".split(" "),
  ..."requiresReasoningContentOnAssistantMessages zaiToolStream supportsLongCacheRetention".split(" "),
  ..."supportsPromptCacheKey sendSessionAffinityHeaders supportsMidConvoSystemMessages".split(" "),
  ..."supportsMidConvoToolAdditions supportsMidConvoEffort supportsMidConvoToolChanges".split(" "),
  ..."supportsExplicitPromptCacheMode supportsOpenAIGrammarTools supportsAdditionalTools supportsToolSearch".split(" "),
  ..."supportsEagerToolInputStreaming supportsCacheControlOnTools supportsTemperature".split(" "),
  ..."forceAdaptiveThinking allowEmptySignature supportsStrictTools".split(" "),
];

const unusedCompat = [
  ..."supportsFinishReason thinkingTokenBudgetField supportsThinkingTokenBudget vllmPriority".split(" "),
  ..."supportsMaxOutputTokens allowedFallbackModels imageInput sendImageOptInHeader".split(" "),
];

const getCompat = ({ getValue }: Located): Reader<Compat> =>
  object<Compat>(
    {
      ...Object.fromEntries(flags.map((name) => [name, flag])),
      maxTokensField: oneOf("max_completion_tokens", "max_tokens"),
      toolCallIdFormat: oneOf("openai", "mistral", "any"),
      thinkingFormat: oneOf<ThinkingFormat>(
        ...(["openai", "openrouter", "deepseek", "zai", "qwen", "qwen-chat-template"] as const),
        ...(["together", "baseten", "ant-ling", "chat-template"] as const),
      ),
      cacheControlFormat: oneOf("anthropic"),
      sessionAffinityFormat: oneOf("openai", "openai-nosession", "openrouter"),
      chatTemplateArgs: anyObject(getValue),
      chatTemplateKwargs: anyObject(getValue),
      openRouterRouting: anyObject(getValue),
      vercelGatewayRouting: anyObject(getValue),
    },
    Object.fromEntries(unusedCompat.map((name) => [name, notUsed])),
  );

const unusedModel = {
  inputLimits: notUsed,
  promptCache: notUsed,
  samplingParams: notUsed,
  samplingParamsByThinkingLevel: notUsed,
};

const overrideFields = (located: Located): Fields<ModelOverride> => ({
  name: text,
  reasoning: flag,
  thinkingLevelMap,
  input: toList(oneOf("text", "image")),
  cost,
  contextWindow: tokens,
  maxTokens: tokens,
  headers,
  compat: getCompat(located),
});

const getEntry = (located: Located): Reader<ModelEntry> => {
  const fields = object<Omit<ModelEntry, "line">>(
    { ...overrideFields(located), id: text, api: text, baseUrl: url },
    // A model for another kind of work is told from one to talk to by its type.
    { ...unusedModel, type: "" },
  );
  return (node, path, report) => {
    const read = fields(node, path, report);
    if (!read) return undefined;
    const { id, ...rest } = read;
    if (id !== undefined) return { ...rest, id, line: located.formatLine(node) };
    report(node, path, 'A model needs an "id". It is left out.');
    return undefined;
  };
};

/** Of two models with one id the last counts, as of everything that is written twice. */
const getEntries = (located: Located): Reader<ModelEntry[]> => {
  const list = toList(getEntry(located));
  return (node: Node, path: Path, report: Report) => {
    const read = list(node, path, report);
    return read && [...new Map(read.map((entry) => [entry.id, entry])).values()];
  };
};

const getProvider = (located: Located): Reader<ProviderConfig> => {
  const fields = object<Omit<ProviderConfig, "line">>(
    {
      name: text,
      baseUrl: url,
      apiKey: text,
      api: text,
      headers,
      compat: getCompat(located),
      authHeader: flag,
      models: getEntries(located),
      modelOverrides: mapSetting(object<ModelOverride>(overrideFields(located), unusedModel)),
    },
    { oauth: notUsed },
  );
  return (node, path, report) => {
    const read = fields(node, path, report);
    return read && { ...read, line: located.formatLine(node) };
  };
};

/** The whole file. */
export const readProviders = (located: Located): Reader<Map<string, ProviderConfig>> => {
  const file = object<{ providers: Map<string, ProviderConfig> }>(
    { providers: mapSetting(getProvider(located)) },
    { $schema: "" },
  );
  return (node, path, report) => {
    const read = file(node, path, report);
    return read && (read.providers ?? new Map());
  };
};
