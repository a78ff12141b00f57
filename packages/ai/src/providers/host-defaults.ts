/**
 * What is known about servers that speak OpenAI's chat completions, by host. The catalogue's own flags win; this table
 * is for what they leave open, and for base URLs that the catalogue has never heard of.
 */
import type { OpenAICompletionsCompat } from "../model.ts";

interface HostRow {
  /** Each matches itself and everything below it. */
  domains: readonly string[];
  compat: OpenAICompletionsCompat;
}

/** What nobody but OpenAI is sure to take. Leaving it out costs nothing; some servers reject it. */
const modest: OpenAICompletionsCompat = {
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsLongCacheRetention: false,
};

/** The first row that matches counts, so the narrower domain stands above the wider one. */
const rows: readonly HostRow[] = [
  { domains: ["api.openai.com"], compat: { supportsPromptCacheKey: true } },
  {
    domains: ["deepseek.com"],
    compat: {
      ...modest,
      maxTokensField: "max_tokens",
      thinkingFormat: "deepseek",
      requiresReasoningContentOnAssistantMessages: true,
    },
  },
  {
    domains: ["xiaomimimo.com"],
    compat: { ...modest, thinkingFormat: "deepseek", requiresReasoningContentOnAssistantMessages: true },
  },
  {
    domains: ["moonshot.ai", "moonshot.cn"],
    compat: {
      ...modest,
      maxTokensField: "max_tokens",
      thinkingFormat: "deepseek",
      supportsReasoningEffort: false,
      supportsStrictMode: false,
    },
  },
  {
    domains: ["volces.com"],
    compat: { ...modest, maxTokensField: "max_tokens", thinkingFormat: "deepseek", supportsReasoningEffort: false },
  },
  {
    domains: ["z.ai", "bigmodel.cn"],
    compat: { ...modest, maxTokensField: "max_tokens", thinkingFormat: "zai", supportsReasoningEffort: false },
  },
  {
    domains: ["aliyuncs.com"],
    compat: { ...modest, maxTokensField: "max_tokens", thinkingFormat: "qwen", supportsReasoningEffort: false },
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
  { domains: ["ai-gateway.vercel.sh"], compat: { ...modest, thinkingFormat: "openrouter" } },
  {
    domains: ["together.ai", "together.xyz"],
    compat: {
      ...modest,
      maxTokensField: "max_tokens",
      thinkingFormat: "together",
      supportsReasoningEffort: false,
      supportsStrictMode: false,
    },
  },
  {
    domains: ["ant-ling.com"],
    compat: { ...modest, maxTokensField: "max_tokens", thinkingFormat: "ant-ling", supportsReasoningEffort: false },
  },
  { domains: ["x.ai"], compat: { ...modest, supportsReasoningEffort: false } },
  {
    // Rejects whatever it does not know, in messages too.
    domains: ["mistral.ai"],
    compat: {
      ...modest,
      maxTokensField: "max_tokens",
      supportsReasoningEffort: false,
      requiresToolResultName: true,
      requiresThinkingAsText: true,
      toolCallIdFormat: "mistral",
    },
  },
  { domains: ["groq.com"], compat: modest },
  // Takes strict tools only when all of them are.
  { domains: ["cerebras.ai"], compat: { ...modest, supportsStrictMode: false } },
  { domains: ["fireworks.ai"], compat: { ...modest, sendSessionAffinityHeaders: true } },
  {
    domains: ["baseten.co"],
    compat: { ...modest, maxTokensField: "max_tokens", sendSessionAffinityHeaders: true },
  },
  {
    domains: ["gateway.ai.cloudflare.com"],
    compat: {
      ...modest,
      maxTokensField: "max_tokens",
      supportsReasoningEffort: false,
      supportsStrictMode: false,
      sendSessionAffinityHeaders: true,
    },
  },
  { domains: ["api.cloudflare.com"], compat: { ...modest, sendSessionAffinityHeaders: true } },
  {
    domains: ["nvidia.com"],
    compat: { ...modest, maxTokensField: "max_tokens", supportsReasoningEffort: false, supportsStrictMode: false },
  },
  { domains: ["huggingface.co"], compat: modest },
  { domains: ["githubcopilot.com"], compat: { ...modest, supportsReasoningEffort: false } },
  { domains: ["googleapis.com"], compat: { ...modest, maxTokensField: "max_tokens", supportsStrictMode: false } },
  {
    domains: ["opencode.ai"],
    compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  },
  {
    // Hosts of open models, which are all alike in this.
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
    compat: { ...modest, maxTokensField: "max_tokens" },
  },
];

/** Ollama, LM Studio, llama.cpp, vLLM and whatever else runs at home: all take `max_tokens`, none is OpenAI. */
const local: OpenAICompletionsCompat = {
  ...modest,
  maxTokensField: "max_tokens",
  supportsStrictMode: false,
  toolCallIdFormat: "any",
};

/** Ports that are as good as a name: Ollama's and LM Studio's. */
const localPorts: readonly string[] = ["11434", "1234"];

/** The flags that a base URL implies. Pure; looks at the host and its port only. Unknown hosts imply nothing. */
export function hostDefaults(baseUrl: string): OpenAICompletionsCompat {
  // Placeholders are filled in when a request is made; until then they match no row.
  const plain = baseUrl.replace(/\{[^}]*\}/g, "placeholder.invalid");
  if (!URL.canParse(plain)) return {};
  const { hostname, port } = new URL(plain);
  const row = rows.find(({ domains }) => domains.some((domain) => isWithin(hostname, domain)));
  if (row) return row.compat;
  return localPorts.includes(port) || isLocal(hostname) ? local : {};
}

const isWithin = (hostname: string, domain: string) => hostname === domain || hostname.endsWith(`.${domain}`);

/** A name or address that cannot be reached from elsewhere. */
const isLocal = (hostname: string) =>
  !/[.:]/.test(hostname) ||
  /\.(localhost|local|lan|internal|home\.arpa)$/.test(hostname) ||
  /^(127|10)\.\d+\.\d+\.\d+$|^192\.168\.\d+\.\d+$|^172\.(1[6-9]|2\d|3[01])\.\d+\.\d+$|^0\.0\.0\.0$/.test(hostname) ||
  /^\[(::1|f[cd][0-9a-f]{2}:.*|fe80:.*)\]$/.test(hostname);
