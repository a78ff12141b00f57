/** The default model of a session. */
import type { Model, ModelThinkingLevel } from "@tau/ai";
import type { Preference } from "./match.ts";
import { getReference, type ModelResolution } from "./resolve.ts";

/**
 * Providers in order of preference, each with its default model. Companies that make models come before services that
 * offer the models of others.
 */
const table: readonly (readonly [provider: string, model: string])[] = [
  ["anthropic", "claude-opus-5-5"],
  ["openai", "gpt-6.1-sol"],
  ["openai-codex", "gpt-6.1-sol"],
  ["google", "gemini-4-argon"],
  ["xai", "grok-4.7"],
  ["deepseek", "deepseek-v4-pro"],
  ["moonshotai", "kimi-k3.1-pro"],
  ["moonshotai-cn", "kimi-k3.1-pro"],
  ["kimi-coding", "kimi-for-coding"],
  ["zai", "glm-5.3"],
  ["zai-coding-cn", "glm-5.3"],
  ["mistral", "devstral-medium-latest"],
  ["minimax", "MiniMax-M3"],
  ["minimax-cn", "MiniMax-M3"],
  ["meta", "muse-spark-1.3"],
  ["xiaomi", "mimo-v2.6-pro"],
  ["xiaomi-token-plan-ams", "mimo-v2.6-pro"],
  ["xiaomi-token-plan-cn", "mimo-v2.6-pro"],
  ["xiaomi-token-plan-sgp", "mimo-v2.6-pro"],
  ["qwen-token-plan", "qwen3.8-max"],
  ["qwen-token-plan-cn", "qwen3.8-max"],
  ["qwen-token-plan-individual", "qwen3.8-max"],
  ["ant-ling", "Ring-2.6-1T"],
  ["github-copilot", "claude-opus-5.5"],
  ["google-vertex", "gemini-4-argon"],
  ["azure", "gpt-5.4"],
  ["cerebras", "gpt-oss-120b"],
  ["groq", "openai/gpt-oss-120b"],
  ["amazon-bedrock", "us.anthropic.claude-opus-4-6-v1"],
  ["opencode", "kimi-k2.6"],
  ["opencode-go", "kimi-k3.1-pro"],
  ["fireworks", "accounts/fireworks/models/kimi-k3"],
  ["together", "moonshotai/Kimi-K3"],
  ["baseten", "moonshotai/Kimi-K3"],
  ["nvidia", "moonshotai/kimi-k2.6"],
  ["huggingface", "moonshotai/Kimi-K2.6"],
  ["openrouter", "moonshotai/kimi-k2.6"],
  ["vercel-ai-gateway", "zai/glm-5.1"],
  ["cloudflare-workers-ai", "@cf/zai-org/glm-5.3"],
  ["cloudflare-ai-gateway", "workers-ai/@cf/zai-org/glm-5.3"],
];

export const defaultProviderOrder: readonly string[] = table.map(([provider]) => provider);

/** Orders names of providers: those in the order of preference first, the others by their names. */
export const compareProviders = (a: string, b: string): number => getRank(a) - getRank(b) || a.localeCompare(b, "en");

/** Its place in the order of preference. Those that are not in it come last. */
function getRank(provider: string): number {
  const index = defaultProviderOrder.indexOf(provider);
  return index === -1 ? defaultProviderOrder.length : index;
}

/** The default model of each provider. */
export const defaultModels: ReadonlyMap<string, string> = new Map(table);

/** The model that the settings name. */
export interface DefaultChoice {
  /** Any reference to a model; with `defaultProvider`, one of its models. */
  defaultModel?: string;
  defaultProvider?: string;
}

export type DefaultModel =
  | {
      kind: "resolved";
      model: Model;
      because: "settings" | "provider" | "first";
      /** The thinking level of the role that named it. Absent if it was not a role, or has none. */
      thinkingLevel?: ModelThinkingLevel;
      /** Why the model of the settings is not used, and which is used instead. */
      notice?: string;
      /** Only why the model of the settings is not used. */
      reason?: string;
    }
  | { kind: "none"; message: string };

/**
 * `named`, the model of the settings, if it can be used; else the default model of the first provider that can be used; else the
 * first model of any provider that can be used.
 */
export function chooseDefault(
  getModels: () => readonly Model[],
  named: ModelResolution | undefined,
  preference: Preference = {},
): DefaultModel {
  const { hasKey = () => true } = preference;
  if (named?.kind === "resolved" && hasKey(named.model.provider))
    return { kind: "resolved", model: named.model, because: "settings", ...getRoleLevel(named) };
  const notice = named && (named.kind === "resolved" ? `There is no key for ${named.model.provider}.` : named.message);
  const fallback = findUsable(getModels(), preference);
  if (!fallback) return { kind: "none", message: notice ? `${notice} ${howToConnect}` : howToConnect };
  return {
    kind: "resolved",
    ...fallback,
    ...(notice && { notice: `${notice} ${getReference(fallback.model)} is used instead.`, reason: notice }),
  };
}

const getRoleLevel = ({ role, thinkingLevel }: Extract<ModelResolution, { kind: "resolved" }>) =>
  role === undefined || thinkingLevel === undefined ? {} : { thinkingLevel };

function findUsable(models: readonly Model[], { hasKey = () => true, providerOrder }: Preference) {
  const usable = models.filter(({ provider }) => hasKey(provider));
  const order = [...(providerOrder ?? defaultProviderOrder), ...defaultProviderOrder];
  for (const provider of order) {
    const model = usable.find((each) => each.provider === provider && each.id === defaultModels.get(provider));
    if (model) return { model, because: "provider" as const };
  }
  const first = usable[0];
  return first && { model: first, because: "first" as const };
}

const howToConnect =
  "No model can be used yet. Set a key in the environment (such as ANTHROPIC_API_KEY or OPENAI_API_KEY), log in, " +
  "start a local server (Ollama, LM Studio, llama.cpp or vLLM), or describe a provider in models.json.";
