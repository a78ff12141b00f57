import type { KnownApi } from "../model.ts";
import type { StreamOptions } from "../options.ts";
import type { Protocol } from "./protocol.ts";

/** Every wire protocol, loaded on first use. */
export const protocols: Readonly<Record<KnownApi, () => Promise<Protocol>>> = {
  "anthropic-messages": async () => eraseTypes((await import("./anthropic-messages/index.ts")).anthropicMessages),
  "openai-completions": async () => eraseTypes((await import("./openai-completions/index.ts")).openaiCompletions),
  "openai-responses": async () => eraseTypes((await import("./openai-responses/index.ts")).openaiResponses),
  "azure-openai-responses": async () =>
    eraseTypes((await import("./azure-openai-responses/index.ts")).azureOpenAIResponses),
  "openai-codex-responses": async () =>
    eraseTypes((await import("./openai-codex-responses/index.ts")).openaiCodexResponses),
  "google-generative-ai": async () => eraseTypes((await import("./google-generative-ai/index.ts")).googleGenerativeAi),
  "google-vertex": async () => eraseTypes((await import("./google-vertex/index.ts")).googleVertex),
  "mistral-conversations": async () =>
    eraseTypes((await import("./mistral-conversations/index.ts")).mistralConversations),
  "bedrock-converse-stream": async () =>
    eraseTypes((await import("./bedrock-converse-stream/index.ts")).bedrockConverseStream),
};

/** Removes a protocol's own types of options and state. It reads its options from whatever callers pass. */
const eraseTypes = <TOptions extends StreamOptions, TState>(protocol: Protocol<TOptions, TState>) =>
  protocol as unknown as Protocol;
