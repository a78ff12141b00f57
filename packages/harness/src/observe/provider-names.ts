/** Who serves a model, in the words of OpenTelemetry's conventions for GenAI. */

/** Only where the convention has another word than we; whom it does not know is called what we call them. */
const conventional: Record<string, string> = {
  "amazon-bedrock": "aws.bedrock",
  "azure-openai-responses": "azure.ai.openai",
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
export const providerName = (provider: string): string =>
  Object.hasOwn(conventional, provider) ? conventional[provider]! : provider;
