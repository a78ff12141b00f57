import type { KnownApi } from "../../model.ts";
import { anthropicMessagesDialect } from "./anthropic-messages.ts";
import { bedrockConverseStreamDialect } from "./bedrock-converse-stream.ts";
import type { WireDialect } from "./dialect.ts";
import { googleGenerativeAiDialect, googleVertexDialect } from "./google.ts";
import { mistralConversationsDialect } from "./mistral-conversations.ts";
import { openaiCompletionsDialect } from "./openai-completions.ts";
import { openaiResponsesDialect } from "./openai-responses.ts";

export const wireDialects: Readonly<Record<KnownApi, WireDialect>> = {
  "anthropic-messages": anthropicMessagesDialect,
  "openai-completions": openaiCompletionsDialect,
  "openai-responses": openaiResponsesDialect("openai-responses"),
  "azure-openai-responses": openaiResponsesDialect("azure-openai-responses"),
  "openai-codex-responses": openaiResponsesDialect("openai-codex-responses"),
  "google-generative-ai": googleGenerativeAiDialect,
  "google-vertex": googleVertexDialect,
  "mistral-conversations": mistralConversationsDialect,
  "bedrock-converse-stream": bedrockConverseStreamDialect,
};
