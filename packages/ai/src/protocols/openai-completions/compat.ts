import { oncePer } from "../../internal/once.ts";
import type { Model, OpenAICompletionsCompat } from "../../model.ts";
import { getHostDefaults } from "../../providers/host-defaults.ts";

/** Flags without a default. */
type OptionalFlag =
  | "chatTemplateArgs"
  | "chatTemplateKwargs"
  | "cacheControlFormat"
  | "openRouterRouting"
  | "vercelGatewayRouting";

/** Flags about system messages and tools in the middle of a conversation, which a `Context` cannot express. */
type UnusedFlag = "supportsMidConvoSystemMessages" | "supportsMidConvoToolAdditions";

/** The flags used by this protocol, with defaults applied. */
export type ResolvedCompat = Required<Omit<OpenAICompletionsCompat, OptionalFlag | UnusedFlag>> &
  Pick<OpenAICompletionsCompat, OptionalFlag>;

/** A model with resolved flags. */
export type CompletionsModel = Omit<Model<"openai-completions">, "compat"> & { compat: ResolvedCompat };

const defaults: ResolvedCompat = {
  supportsStore: true,
  supportsDeveloperRole: true,
  supportsReasoningEffort: true,
  supportsUsageInStreaming: true,
  supportsTools: true,
  supportsStrictMode: true,
  maxTokensField: "max_completion_tokens",
  requiresToolResultName: false,
  requiresAssistantAfterToolResult: false,
  requiresThinkingAsText: false,
  requiresReasoningContentOnAssistantMessages: false,
  toolCallIdFormat: "openai",
  thinkingFormat: "openai",
  zaiToolStream: false,
  supportsLongCacheRetention: true,
  supportsPromptCacheKey: false,
  sendSessionAffinityHeaders: false,
  sessionAffinityFormat: "openai",
};

/** Resolves every flag: the model's own value, else the default of its host, else the general default. */
export const resolveCompat = oncePer((model: Model): CompletionsModel => {
  const { compat } = model as Model<"openai-completions">;
  return {
    ...(model as Model<"openai-completions">),
    compat: { ...defaults, ...getHostDefaults(model.baseUrl), ...compat },
  };
});
