import { withApiKey } from "../../auth/api-key.ts";
import { getProviderInfo } from "../../providers/index.ts";
import { toAzureRequest } from "../azure-endpoint.ts";
import { defineProtocol } from "../protocol.ts";
import { completionsPath, encode } from "./encode.ts";
import { type OpenAICompletionsOptions, resolveOptions } from "./options.ts";
import { type CompletionsState, finish, start, step } from "./step.ts";

export const openaiCompletions = defineProtocol<OpenAICompletionsOptions, CompletionsState>({
  api: "openai-completions",
  framing: "sse",
  resolveOptions,
  encode,
  authorize(request, auth) {
    const keyed = withApiKey(request, auth);
    const { provider } = auth.model;
    return getProviderInfo(provider)?.usesDeployments ? toAzureRequest(keyed, auth, completionsPath) : keyed;
  },
  start,
  step,
  finish,
});
