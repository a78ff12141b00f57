/** The header that carries a key, and the prefix before the key. */
export interface KeyHeader {
  name: string;
  prefix: string;
}

/** A provider, as data. Its models are in the catalogue. */
export interface ProviderInfo {
  /** Shown to the user. */
  name: string;
  /** Environment variables that may hold the key, most specific first. */
  keys: readonly string[];
  /** Those of them that hold a bearer token, whatever header other keys are sent in. */
  tokens?: readonly string[];
  /** The server may be used without a key. */
  keyless?: boolean;
  /** The header for the key. Default: the protocol's. */
  keyHeader?: KeyHeader;
  /** Sent with every request. Names in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Requests need headers that say whether the user or the agent caused them and whether they have images. */
  tellsInitiator?: boolean;
}

export const bearer: KeyHeader = { name: "authorization", prefix: "Bearer " };

const table: Record<string, ProviderInfo> = {
  "amazon-bedrock": { name: "Amazon Bedrock", keys: ["AWS_BEARER_TOKEN_BEDROCK"] },
  "ant-ling": { name: "Ant Ling", keys: ["ANT_LING_API_KEY"] },
  anthropic: {
    name: "Anthropic",
    keys: ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"],
    tokens: ["ANTHROPIC_AUTH_TOKEN"],
  },
  "azure-openai-responses": { name: "Azure OpenAI", keys: ["AZURE_OPENAI_API_KEY"] },
  baseten: { name: "Baseten", keys: ["BASETEN_API_KEY"] },
  cerebras: { name: "Cerebras", keys: ["CEREBRAS_API_KEY"] },
  "cloudflare-ai-gateway": {
    name: "Cloudflare AI Gateway",
    keys: ["CLOUDFLARE_API_KEY"],
    keyHeader: { name: "cf-aig-authorization", prefix: "Bearer " },
  },
  "cloudflare-workers-ai": { name: "Cloudflare Workers AI", keys: ["CLOUDFLARE_API_KEY"] },
  deepseek: { name: "DeepSeek", keys: ["DEEPSEEK_API_KEY"] },
  fireworks: { name: "Fireworks", keys: ["FIREWORKS_API_KEY"] },
  "github-copilot": {
    name: "GitHub Copilot",
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
  google: { name: "Google Gemini", keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"] },
  "google-vertex": { name: "Google Vertex AI", keys: ["GOOGLE_CLOUD_API_KEY"] },
  groq: { name: "Groq", keys: ["GROQ_API_KEY"] },
  huggingface: { name: "Hugging Face", keys: ["HF_TOKEN"] },
  "kimi-coding": { name: "Kimi For Coding", keys: ["KIMI_API_KEY"] },
  meta: { name: "Meta", keys: ["META_API_KEY"] },
  minimax: { name: "MiniMax", keys: ["MINIMAX_API_KEY"] },
  "minimax-cn": { name: "MiniMax (China)", keys: ["MINIMAX_CN_API_KEY"] },
  mistral: { name: "Mistral", keys: ["MISTRAL_API_KEY"] },
  moonshotai: { name: "Moonshot AI", keys: ["MOONSHOT_API_KEY"] },
  "moonshotai-cn": { name: "Moonshot AI (China)", keys: ["MOONSHOT_API_KEY"] },
  nvidia: { name: "NVIDIA NIM", keys: ["NVIDIA_API_KEY"] },
  openai: { name: "OpenAI", keys: ["OPENAI_API_KEY"] },
  "openai-codex": { name: "OpenAI Codex", keys: ["OPENAI_CODEX_TOKEN"] },
  opencode: { name: "OpenCode Zen", keys: ["OPENCODE_API_KEY"] },
  "opencode-go": { name: "OpenCode Go", keys: ["OPENCODE_API_KEY"] },
  openrouter: { name: "OpenRouter", keys: ["OPENROUTER_API_KEY"], keyHeader: bearer },
  "qwen-token-plan": { name: "Qwen Token Plan", keys: ["QWEN_TOKEN_PLAN_API_KEY"] },
  "qwen-token-plan-cn": { name: "Qwen Token Plan (China)", keys: ["QWEN_TOKEN_PLAN_CN_API_KEY"] },
  "qwen-token-plan-individual": { name: "Qwen Token Plan (Individual)", keys: ["QWEN_TOKEN_PLAN_API_KEY"] },
  together: { name: "Together AI", keys: ["TOGETHER_API_KEY"] },
  "vercel-ai-gateway": { name: "Vercel AI Gateway", keys: ["AI_GATEWAY_API_KEY"], keyHeader: bearer },
  xai: { name: "xAI", keys: ["XAI_API_KEY"] },
  xiaomi: { name: "Xiaomi MiMo", keys: ["XIAOMI_API_KEY"] },
  "xiaomi-token-plan-ams": { name: "Xiaomi MiMo Token Plan (Amsterdam)", keys: ["XIAOMI_TOKEN_PLAN_AMS_API_KEY"] },
  "xiaomi-token-plan-cn": { name: "Xiaomi MiMo Token Plan (China)", keys: ["XIAOMI_TOKEN_PLAN_CN_API_KEY"] },
  "xiaomi-token-plan-sgp": { name: "Xiaomi MiMo Token Plan (Singapore)", keys: ["XIAOMI_TOKEN_PLAN_SGP_API_KEY"] },
  zai: { name: "Z.ai Coding Plan", keys: ["ZAI_API_KEY"] },
  "zai-coding-cn": { name: "Z.ai Coding Plan (China)", keys: ["ZAI_CODING_CN_API_KEY"] },
  ollama: { name: "Ollama", keys: ["OLLAMA_API_KEY"], keyless: true },
  lmstudio: { name: "LM Studio", keys: ["LMSTUDIO_API_KEY"], keyless: true },
  llamacpp: { name: "llama.cpp", keys: ["LLAMACPP_API_KEY"], keyless: true },
  vllm: { name: "vLLM", keys: ["VLLM_API_KEY"], keyless: true },
};

/** Every built-in provider and local server. It has no prototype, so that `providers["constructor"]` is undefined. */
export const providers: Readonly<Record<string, ProviderInfo>> = Object.freeze(
  Object.assign(Object.create(null) as Record<string, ProviderInfo>, table),
);
