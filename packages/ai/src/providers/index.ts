/** The header that carries a key, and the prefix before the key. */
export interface KeyHeader {
  name: string;
  prefix: string;
}

/** A provider, as data. Its models are in the catalogue. */
interface ProviderInfo {
  /** Shown to the user. */
  name: string;
  /** Environment variables that may hold the key, most specific first. */
  keys: readonly string[];
  /** The names among them that hold a bearer token, whatever header other keys are sent in. */
  tokens?: readonly string[];
  /** The server may be used without a key. */
  keyless?: boolean;
  /** The header for the key. Default: the protocol's. */
  keyHeader?: KeyHeader;
  /** Sent with every request. Names in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Requests need headers that say whether the user or the agent caused them and whether they have images. */
  tellsInitiator?: boolean;
  /** The page where the user sees and raises what may be spent. */
  billingUrl?: string;
  /** Requests may ask for a faster or a cheaper service. */
  hasServiceTiers?: boolean;
  /** The address and the names of deployments are configured by the user, as `azure-endpoint.ts` describes. */
  usesDeployments?: boolean;
  /** Earlier ids, which stay usable in settings, credentials, models.json and sessions. */
  formerIds?: readonly string[];
}

export const bearer: KeyHeader = { name: "authorization", prefix: "Bearer " };

const table: Record<string, ProviderInfo> = {
  "amazon-bedrock": { name: "Amazon Bedrock", keys: ["AWS_BEARER_TOKEN_BEDROCK"] },
  "ant-ling": { name: "Ant Ling", keys: ["ANT_LING_API_KEY"] },
  anthropic: {
    name: "Anthropic",
    billingUrl: "https://console.anthropic.com/settings/billing",
    keys: ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"],
    tokens: ["ANTHROPIC_AUTH_TOKEN"],
  },
  azure: {
    name: "Azure",
    keys: ["AZURE_OPENAI_API_KEY"],
    keyHeader: { name: "api-key", prefix: "" },
    usesDeployments: true,
    formerIds: ["azure-openai-responses"],
  },
  baseten: { name: "Baseten", keys: ["BASETEN_API_KEY"] },
  cerebras: { name: "Cerebras", billingUrl: "https://cloud.cerebras.ai", keys: ["CEREBRAS_API_KEY"] },
  "cloudflare-ai-gateway": {
    name: "Cloudflare AI Gateway",
    keys: ["CLOUDFLARE_API_KEY"],
    keyHeader: { name: "cf-aig-authorization", prefix: "Bearer " },
  },
  "cloudflare-workers-ai": { name: "Cloudflare Workers AI", keys: ["CLOUDFLARE_API_KEY"] },
  deepseek: { name: "DeepSeek", billingUrl: "https://platform.deepseek.com/top_up", keys: ["DEEPSEEK_API_KEY"] },
  fireworks: { name: "Fireworks", billingUrl: "https://app.fireworks.ai/account/billing", keys: ["FIREWORKS_API_KEY"] },
  "github-copilot": {
    name: "GitHub Copilot",
    billingUrl: "https://github.com/settings/billing",
    keys: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
    keyHeader: bearer,
    // It only accepts requests from known editors.
    headers: {
      "user-agent": "GitHubCopilotChat/0.35.0",
      "editor-version": "vscode/1.107.0",
      "editor-plugin-version": "copilot-chat/0.35.0",
      "copilot-integration-id": "vscode-chat",
      "openai-intent": "conversation-edits",
    },
    tellsInitiator: true,
  },
  google: {
    name: "Google Gemini",
    billingUrl: "https://console.cloud.google.com/billing",
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  },
  "google-vertex": {
    name: "Google Vertex AI",
    billingUrl: "https://console.cloud.google.com/billing",
    keys: ["GOOGLE_CLOUD_API_KEY"],
  },
  groq: { name: "Groq", billingUrl: "https://console.groq.com/settings/billing", keys: ["GROQ_API_KEY"] },
  huggingface: { name: "Hugging Face", billingUrl: "https://huggingface.co/settings/billing", keys: ["HF_TOKEN"] },
  "kimi-coding": { name: "Kimi For Coding", keys: ["KIMI_API_KEY"] },
  meta: { name: "Meta", keys: ["META_API_KEY"] },
  minimax: { name: "MiniMax", keys: ["MINIMAX_API_KEY"] },
  "minimax-cn": { name: "MiniMax (China)", keys: ["MINIMAX_CN_API_KEY"] },
  mistral: { name: "Mistral", billingUrl: "https://admin.mistral.ai/organization/billing", keys: ["MISTRAL_API_KEY"] },
  moonshotai: {
    name: "Moonshot AI",
    billingUrl: "https://platform.moonshot.ai/console/pay",
    keys: ["MOONSHOT_API_KEY"],
  },
  "moonshotai-cn": {
    name: "Moonshot AI (China)",
    billingUrl: "https://platform.moonshot.cn/console/pay",
    keys: ["MOONSHOT_API_KEY"],
  },
  nvidia: { name: "NVIDIA NIM", keys: ["NVIDIA_API_KEY"] },
  openai: {
    name: "OpenAI",
    billingUrl: "https://platform.openai.com/settings/organization/billing",
    keys: ["OPENAI_API_KEY"],
    hasServiceTiers: true,
  },
  "openai-codex": {
    name: "OpenAI Codex",
    billingUrl: "https://chatgpt.com/codex/settings/usage",
    keys: ["OPENAI_CODEX_TOKEN"],
    hasServiceTiers: true,
  },
  opencode: { name: "OpenCode Zen", billingUrl: "https://opencode.ai/zen", keys: ["OPENCODE_API_KEY"] },
  "opencode-go": { name: "OpenCode Go", keys: ["OPENCODE_API_KEY"] },
  openrouter: {
    name: "OpenRouter",
    billingUrl: "https://openrouter.ai/settings/credits",
    keys: ["OPENROUTER_API_KEY"],
    keyHeader: bearer,
  },
  "qwen-token-plan": { name: "Qwen Token Plan", keys: ["QWEN_TOKEN_PLAN_API_KEY"] },
  "qwen-token-plan-cn": { name: "Qwen Token Plan (China)", keys: ["QWEN_TOKEN_PLAN_CN_API_KEY"] },
  "qwen-token-plan-individual": { name: "Qwen Token Plan (Individual)", keys: ["QWEN_TOKEN_PLAN_API_KEY"] },
  together: { name: "Together AI", billingUrl: "https://api.together.ai/settings/billing", keys: ["TOGETHER_API_KEY"] },
  "vercel-ai-gateway": { name: "Vercel AI Gateway", keys: ["AI_GATEWAY_API_KEY"], keyHeader: bearer },
  xai: { name: "xAI", billingUrl: "https://console.x.ai", keys: ["XAI_API_KEY"] },
  xiaomi: { name: "Xiaomi MiMo", keys: ["XIAOMI_API_KEY"] },
  "xiaomi-token-plan-ams": { name: "Xiaomi MiMo Token Plan (Amsterdam)", keys: ["XIAOMI_TOKEN_PLAN_AMS_API_KEY"] },
  "xiaomi-token-plan-cn": { name: "Xiaomi MiMo Token Plan (China)", keys: ["XIAOMI_TOKEN_PLAN_CN_API_KEY"] },
  "xiaomi-token-plan-sgp": { name: "Xiaomi MiMo Token Plan (Singapore)", keys: ["XIAOMI_TOKEN_PLAN_SGP_API_KEY"] },
  zai: { name: "Z.ai Coding Plan", keys: ["ZAI_API_KEY"] },
  "zai-coding-cn": { name: "Z.ai Coding Plan (China)", keys: ["ZAI_CODING_CN_API_KEY"] },
  ollama: { name: "Ollama", keys: ["OLLAMA_API_KEY"], keyless: true },
  lmstudio: { name: "LM Studio", keys: ["LMSTUDIO_API_KEY"], keyless: true },
  llamacpp: { name: "llama.cpp", keys: ["LLAMACPP_API_KEY", "LLAMA_API_KEY"], keyless: true },
  vllm: { name: "vLLM", keys: ["VLLM_API_KEY"], keyless: true },
};

/** Every built-in provider and local server. It has no prototype, so that `providers["constructor"]` is undefined. */
export const providers: Readonly<Record<string, ProviderInfo>> = Object.freeze(
  Object.assign(Object.create(null) as Record<string, ProviderInfo>, table),
);

const currentIds: ReadonlyMap<string, string> = new Map(
  Object.entries(table).flatMap(([id, { formerIds = [] }]) => formerIds.map((formerId) => [formerId, id])),
);

/** The current id of a provider. Any other text is returned as it is. */
export const toProviderId = (name: string): string => currentIds.get(name) ?? name;

/** A built-in provider or local server, also by a former id. */
export const getProviderInfo = (name: string): ProviderInfo | undefined => providers[toProviderId(name)];
