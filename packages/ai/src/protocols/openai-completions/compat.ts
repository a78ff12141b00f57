import type { Model, OpenAICompletionsCompat } from "../../model.ts";
import { hostDefaults } from "../../providers/host-defaults.ts";

/** Flags that are data rather than decisions: unset, they say nothing. */
type OptionalFlag =
  | "chatTemplateArgs"
  | "chatTemplateKwargs"
  | "cacheControlFormat"
  | "openRouterRouting"
  | "vercelGatewayRouting";

/** Flags about system messages and tools in mid-conversation, which a `Context` cannot hold. */
type UnusedFlag = "supportsMidConvoSystemMessages" | "supportsMidConvoToolAdditions";

/** Every flag that is used here, decided. */
export type ResolvedCompat = Required<Omit<OpenAICompletionsCompat, OptionalFlag | UnusedFlag>> &
  Pick<OpenAICompletionsCompat, OptionalFlag>;

/** A model whose flags are all decided. */
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

/** Decides every flag once: what the model says, else what its host implies, else the default. */
export function resolveCompat(model: Model): CompletionsModel {
  const { compat } = model as Model<"openai-completions">;
  return {
    ...(model as Model<"openai-completions">),
    compat: { ...defaults, ...hostDefaults(model.baseUrl), ...compat },
  };
}
