import type { KnownApi } from "../model.ts";
import type { StreamOptions } from "../options.ts";
import type { Protocol } from "./protocol.ts";

/** Loads a wire protocol. */
export type LoadProtocol = () => Promise<Protocol>;

// A constant each, so that a bundle with the models of one provider contains no others.

export const loadAnthropicMessages: LoadProtocol = async () =>
  eraseTypes((await import("./anthropic-messages/index.ts")).anthropicMessages);
export const loadOpenaiCompletions: LoadProtocol = async () =>
  eraseTypes((await import("./openai-completions/index.ts")).openaiCompletions);
export const loadOpenaiResponses: LoadProtocol = async () =>
  eraseTypes((await import("./openai-responses/index.ts")).openaiResponses);
export const loadAzureOpenaiResponses: LoadProtocol = async () =>
  eraseTypes((await import("./azure-openai-responses/index.ts")).azureOpenAIResponses);
export const loadOpenaiCodexResponses: LoadProtocol = async () =>
  eraseTypes((await import("./openai-codex-responses/index.ts")).openaiCodexResponses);
export const loadGoogleGenerativeAi: LoadProtocol = async () =>
  eraseTypes((await import("./google-generative-ai/index.ts")).googleGenerativeAi);
export const loadGoogleVertex: LoadProtocol = async () =>
  eraseTypes((await import("./google-vertex/index.ts")).googleVertex);
export const loadMistralConversations: LoadProtocol = async () =>
  eraseTypes((await import("./mistral-conversations/index.ts")).mistralConversations);
export const loadBedrockConverseStream: LoadProtocol = async () =>
  eraseTypes((await import("./bedrock-converse-stream/index.ts")).bedrockConverseStream);

/** Every wire protocol, loaded on first use. */
export const protocols: Readonly<Record<KnownApi, LoadProtocol>> = {
  "anthropic-messages": loadAnthropicMessages,
  "openai-completions": loadOpenaiCompletions,
  "openai-responses": loadOpenaiResponses,
  "azure-openai-responses": loadAzureOpenaiResponses,
  "openai-codex-responses": loadOpenaiCodexResponses,
  "google-generative-ai": loadGoogleGenerativeAi,
  "google-vertex": loadGoogleVertex,
  "mistral-conversations": loadMistralConversations,
  "bedrock-converse-stream": loadBedrockConverseStream,
};

/** Removes a protocol's own types of options and state. It reads its options from whatever callers pass. */
const eraseTypes = <TOptions extends StreamOptions, TState>(protocol: Protocol<TOptions, TState>) =>
  protocol as unknown as Protocol;
