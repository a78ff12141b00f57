import { oncePer } from "../../internal/once.ts";
import type { Model, OpenAICompletionsCompat } from "../../model.ts";
import { getHostDefaults } from "../../providers/host-defaults.ts";

const defaults = {
  supportsStore: true,
  supportsDeveloperRole: true,
  supportsReasoningEffort: true,
  supportsUsageInStreaming: true,
  supportsFinishReason: true,
  supportsTools: true,
  supportsStrictMode: true,
  supportsOutputFormat: false,
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
} satisfies OpenAICompletionsCompat;

/** The flags with defaults applied. Those without a default stay optional. */
export type ResolvedCompat = OpenAICompletionsCompat & Required<Pick<OpenAICompletionsCompat, keyof typeof defaults>>;

/** A model with resolved flags. */
export type CompletionsModel = Omit<Model<"openai-completions">, "compat"> & { compat: ResolvedCompat };

/** Resolves every flag: the model's own value, else the default of its host, else the general default. */
export const resolveCompat = oncePer((model: Model): CompletionsModel => {
  const { compat } = model as Model<"openai-completions">;
  return {
    ...(model as Model<"openai-completions">),
    compat: { ...defaults, ...getHostDefaults(model.baseUrl), ...compat },
  };
});
