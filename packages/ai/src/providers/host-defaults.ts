/**
 * Default compat flags of servers with OpenAI's chat completions API, by host. Flags of the model take precedence. The
 * table also covers base URLs that are not in the catalogue.
 */
import type { OpenAICompletionsCompat } from "../model.ts";
import { isLocalServer, parseBaseUrl } from "./local-address.ts";
import { localServerCompat } from "./local-servers.ts";

/** Only OpenAI is certain to accept these fields. Some servers reject them, and they are not needed. */
const basic: OpenAICompletionsCompat = {
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsLongCacheRetention: false,
};

/** Servers that also know only the older name of the output limit. */
const older: OpenAICompletionsCompat = { ...basic, maxTokensField: "max_tokens" };

/** Servers that also do not accept `reasoning_effort`. */
const withoutEffort: OpenAICompletionsCompat = { ...older, supportsReasoningEffort: false };

/**
 * Domains and their flags. Each domain matches itself and its subdomains. The first match is used, so a subdomain must
 * come before its domain.
 */
const rows: readonly (readonly [domains: readonly string[], compat: OpenAICompletionsCompat])[] = [
  [["api.openai.com"], { supportsPromptCacheKey: true, supportsOutputFormat: true }],
  [["deepseek.com"], { ...older, thinkingFormat: "deepseek", requiresReasoningContentOnAssistantMessages: true }],
  [["xiaomimimo.com"], { ...basic, thinkingFormat: "deepseek", requiresReasoningContentOnAssistantMessages: true }],
  [["moonshot.ai", "moonshot.cn"], { ...withoutEffort, thinkingFormat: "deepseek", supportsStrictMode: false }],
  [["volces.com"], { ...withoutEffort, thinkingFormat: "deepseek" }],
  [["z.ai", "bigmodel.cn"], { ...withoutEffort, thinkingFormat: "zai" }],
  // Model Studio replaced `max_tokens` by the newer name in 2026.
  [["aliyuncs.com"], { ...basic, supportsReasoningEffort: false, thinkingFormat: "qwen" }],
  [
    ["openrouter.ai"],
    {
      supportsStore: false,
      supportsDeveloperRole: false,
      thinkingFormat: "openrouter",
      sendSessionAffinityHeaders: true,
      sessionAffinityFormat: "openrouter",
    },
  ],
  [["ai-gateway.vercel.sh"], { ...basic, thinkingFormat: "openrouter" }],
  [["together.ai", "together.xyz"], { ...withoutEffort, thinkingFormat: "together", supportsStrictMode: false }],
  [["ant-ling.com"], { ...withoutEffort, thinkingFormat: "ant-ling" }],
  [["x.ai"], { ...basic, supportsReasoningEffort: false, supportsOutputFormat: true }],
  [
    // Rejects unknown fields, also in messages.
    ["mistral.ai"],
    { ...withoutEffort, requiresToolResultName: true, requiresThinkingAsText: true, toolCallIdFormat: "mistral" },
  ],
  [["groq.com"], basic],
  // Accepts strict tools only if all tools are strict.
  [["cerebras.ai"], { ...basic, supportsStrictMode: false }],
  [["fireworks.ai"], { ...basic, sendSessionAffinityHeaders: true }],
  [["baseten.co"], { ...older, sendSessionAffinityHeaders: true }],
  [["gateway.ai.cloudflare.com"], { ...withoutEffort, supportsStrictMode: false, sendSessionAffinityHeaders: true }],
  // Newer models prefer the newer name and take both; older ones, such as Llama 4, take only `max_tokens`.
  [["api.cloudflare.com"], { ...older, sendSessionAffinityHeaders: true }],
  [["nvidia.com"], { ...withoutEffort, supportsStrictMode: false }],
  [["huggingface.co"], older],
  [["githubcopilot.com"], { ...basic, supportsReasoningEffort: false }],
  [["googleapis.com"], { ...older, supportsStrictMode: false }],
  [["opencode.ai"], { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" }],
  // Hosts of open models.
  [["chutes.ai", "deepinfra.com", "featherless.ai", "hyperbolic.xyz", "minimax.io", "minimaxi.com"], older],
  [["nebius.com", "novita.ai", "sambanova.ai", "siliconflow.cn", "siliconflow.com", "stepfun.com"], older],
];

/** The default flags for a base URL, by its host and port. Empty for an unknown host. Pure. */
export function getHostDefaults(baseUrl: string): OpenAICompletionsCompat {
  const hostname = parseBaseUrl(baseUrl)?.hostname ?? "";
  const row = rows.find(([domains]) => domains.some((domain) => isWithin(hostname, domain)));
  if (row) return row[1];
  return isLocalServer(baseUrl) ? localServerCompat : {};
}

const isWithin = (hostname: string, domain: string) => hostname === domain || hostname.endsWith(`.${domain}`);
