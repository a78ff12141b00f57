import { withApiKey } from "../../auth/api-key.ts";
import { defineProtocol } from "../protocol.ts";
import { encode } from "./encode.ts";
import { type OpenAICompletionsOptions, resolveOptions } from "./options.ts";
import { type CompletionsState, start, step } from "./step.ts";

export const openaiCompletions = defineProtocol<OpenAICompletionsOptions, CompletionsState>({
  api: "openai-completions",
  framing: "sse",
  resolveOptions,
  encode,
  authorize: (request, auth) => withApiKey(request, auth),
  start,
  step,
});
