/**
 * Default compat flags of servers with OpenAI's chat completions API, by host. Flags of the model take precedence. The
 * table also covers base URLs that are not in the catalogue.
 */
import type { OpenAICompletionsCompat } from "../model.ts";
import { localServerCompat } from "./local-servers.ts";

interface HostRow {
  /** Each domain matches itself and its subdomains. */
  domains: readonly string[];
  compat: OpenAICompletionsCompat;
}

/** Only OpenAI is certain to accept these fields. Some servers reject them, and they are not needed. */
const basic: OpenAICompletionsCompat = {
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsLongCacheRetention: false,
};

/** The first match is used, so a subdomain must come before its domain. */
const rows: readonly HostRow[] = [
  { domains: ["api.openai.com"], compat: { supportsPromptCacheKey: true } },
  {
    domains: ["deepseek.com"],
    compat: {
      ...basic,
      maxTokensField: "max_tokens",
      thinkingFormat: "deepseek",
      requiresReasoningContentOnAssistantMessages: true,
    },
  },
  {
    domains: ["xiaomimimo.com"],
    compat: { ...basic, thinkingFormat: "deepseek", requiresReasoningContentOnAssistantMessages: true },
  },
  {
    domains: ["moonshot.ai", "moonshot.cn"],
    compat: {
      ...basic,
      maxTokensField: "max_tokens",
      thinkingFormat: "deepseek",
      supportsReasoningEffort: false,
      supportsStrictMode: false,
    },
  },
  {
    domains: ["volces.com"],
    compat: { ...basic, maxTokensField: "max_tokens", thinkingFormat: "deepseek", supportsReasoningEffort: false },
  },
  {
    domains: ["z.ai", "bigmodel.cn"],
    compat: { ...basic, maxTokensField: "max_tokens", thinkingFormat: "zai", supportsReasoningEffort: false },
  },
  {
    domains: ["aliyuncs.com"],
    compat: { ...basic, maxTokensField: "max_tokens", thinkingFormat: "qwen", supportsReasoningEffort: false },
  },
  {
    domains: ["openrouter.ai"],
    compat: {
      supportsStore: false,
      supportsDeveloperRole: false,
      thinkingFormat: "openrouter",
      sendSessionAffinityHeaders: true,
      sessionAffinityFormat: "openrouter",
    },
  },
  { domains: ["ai-gateway.vercel.sh"], compat: { ...basic, thinkingFormat: "openrouter" } },
  {
    domains: ["together.ai", "together.xyz"],
    compat: {
      ...basic,
      maxTokensField: "max_tokens",
      thinkingFormat: "together",
      supportsReasoningEffort: false,
      supportsStrictMode: false,
    },
  },
  {
    domains: ["ant-ling.com"],
    compat: { ...basic, maxTokensField: "max_tokens", thinkingFormat: "ant-ling", supportsReasoningEffort: false },
  },
  { domains: ["x.ai"], compat: { ...basic, supportsReasoningEffort: false } },
  {
    // Rejects unknown fields, also in messages.
    domains: ["mistral.ai"],
    compat: {
      ...basic,
      maxTokensField: "max_tokens",
      supportsReasoningEffort: false,
      requiresToolResultName: true,
      requiresThinkingAsText: true,
      toolCallIdFormat: "mistral",
    },
  },
  { domains: ["groq.com"], compat: basic },
  // Accepts strict tools only if all tools are strict.
  { domains: ["cerebras.ai"], compat: { ...basic, supportsStrictMode: false } },
  { domains: ["fireworks.ai"], compat: { ...basic, sendSessionAffinityHeaders: true } },
  {
    domains: ["baseten.co"],
    compat: { ...basic, maxTokensField: "max_tokens", sendSessionAffinityHeaders: true },
  },
  {
    domains: ["gateway.ai.cloudflare.com"],
    compat: {
      ...basic,
      maxTokensField: "max_tokens",
      supportsReasoningEffort: false,
      supportsStrictMode: false,
      sendSessionAffinityHeaders: true,
    },
  },
  { domains: ["api.cloudflare.com"], compat: { ...basic, sendSessionAffinityHeaders: true } },
  {
    domains: ["nvidia.com"],
    compat: { ...basic, maxTokensField: "max_tokens", supportsReasoningEffort: false, supportsStrictMode: false },
  },
  { domains: ["huggingface.co"], compat: basic },
  { domains: ["githubcopilot.com"], compat: { ...basic, supportsReasoningEffort: false } },
  { domains: ["googleapis.com"], compat: { ...basic, maxTokensField: "max_tokens", supportsStrictMode: false } },
  {
    domains: ["opencode.ai"],
    compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  },
  {
    // Hosts of open models.
    domains: [
      "chutes.ai",
      "deepinfra.com",
      "featherless.ai",
      "hyperbolic.xyz",
      "minimax.io",
      "minimaxi.com",
      "nebius.com",
      "novita.ai",
      "sambanova.ai",
      "siliconflow.cn",
      "siliconflow.com",
      "stepfun.com",
    ],
    compat: { ...basic, maxTokensField: "max_tokens" },
  },
];

/** The default ports of Ollama and LM Studio, which identify them on any host. */
const localPorts: readonly string[] = ["11434", "1234"];

/** The default flags for a base URL, by its host and port. Empty for an unknown host. Pure. */
export function getHostDefaults(baseUrl: string): OpenAICompletionsCompat {
  // Placeholders are filled in later, when a request is made; here they must not match any row.
  const parseable = baseUrl.replace(/\{[^}]*\}/g, "placeholder.invalid");
  if (!URL.canParse(parseable)) return {};
  const { hostname, port } = new URL(parseable);
  const row = rows.find(({ domains }) => domains.some((domain) => isWithin(hostname, domain)));
  if (row) return row.compat;
  return localPorts.includes(port) || isLocal(hostname) ? localServerCompat : {};
}

const isWithin = (hostname: string, domain: string) => hostname === domain || hostname.endsWith(`.${domain}`);

/** Whether a host is this machine or in the local network. */
const isLocal = (hostname: string) =>
  !/[.:]/.test(hostname) ||
  /\.(localhost|local|lan|internal|home\.arpa)$/.test(hostname) ||
  /^(127|10)\.\d+\.\d+\.\d+$|^192\.168\.\d+\.\d+$|^172\.(1[6-9]|2\d|3[01])\.\d+\.\d+$|^0\.0\.0\.0$/.test(hostname) ||
  /^\[(::1|f[cd][0-9a-f]{2}:.*|fe80:.*)\]$/.test(hostname);
