/** Provider names of OpenTelemetry's conventions for GenAI. */

/** Providers with another name in the convention than in tau. */
const conventionalNames: Record<string, string> = {
  "amazon-bedrock": "aws.bedrock",
  azure: "azure.ai.openai",
  google: "gcp.gemini",
  "google-vertex": "gcp.vertex_ai",
  "kimi-coding": "moonshot_ai",
  mistral: "mistral_ai",
  moonshotai: "moonshot_ai",
  "moonshotai-cn": "moonshot_ai",
  "openai-codex": "openai",
  xai: "x_ai",
};

/** The value of `gen_ai.provider.name`. */
export const getProviderName = (provider: string): string =>
  Object.hasOwn(conventionalNames, provider) ? conventionalNames[provider]! : provider;
