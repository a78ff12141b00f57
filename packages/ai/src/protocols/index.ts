import type { KnownApi } from "../model.ts";
import type { StreamOptions } from "../options.ts";
import type { Protocol } from "./protocol.ts";

/** Every wire protocol, loaded when first asked for. */
export const protocols: Readonly<Record<KnownApi, () => Promise<Protocol>>> = {
  "anthropic-messages": async () => general((await import("./anthropic-messages/index.ts")).anthropicMessages),
  "openai-completions": async () => general((await import("./openai-completions/index.ts")).openaiCompletions),
  "openai-responses": async () => general((await import("./openai-responses/index.ts")).openaiResponses),
  "azure-openai-responses": async () =>
    general((await import("./azure-openai-responses/index.ts")).azureOpenAIResponses),
  "openai-codex-responses": async () =>
    general((await import("./openai-codex-responses/index.ts")).openaiCodexResponses),
  "google-generative-ai": async () => general((await import("./google-generative-ai/index.ts")).googleGenerativeAi),
  "google-vertex": async () => general((await import("./google-vertex/index.ts")).googleVertex),
  "mistral-conversations": async () => general((await import("./mistral-conversations/index.ts")).mistralConversations),
  "bedrock-converse-stream": async () =>
    general((await import("./bedrock-converse-stream/index.ts")).bedrockConverseStream),
};

/** A protocol reads its own options from what callers pass; to the registry they are all alike. */
const general = <TOptions extends StreamOptions, TState>(protocol: Protocol<TOptions, TState>) =>
  protocol as unknown as Protocol;
