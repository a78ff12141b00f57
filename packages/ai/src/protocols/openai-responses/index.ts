import { withApiKey } from "../../auth/api-key.ts";
import { defineProtocol } from "../protocol.ts";
import { getSessionAffinityHeaders } from "../session-affinity.ts";
import { encodeRequest, type ResponsesModel, type ResponsesVariant } from "./encode.ts";
import { type OpenAIResponsesOptions, resolveOptions } from "./options.ts";
import { type ResponsesState, start, step } from "./step.ts";

const openai: ResponsesVariant = {
  path: "/responses",
  outputLimit: true,
  cacheRetention: true,
  samplingParams: true,
  headers: (model, options) => getSessionAffinityHeaders(options, model.compat?.sessionAffinityFormat),
};

export const openaiResponses = defineProtocol<OpenAIResponsesOptions, ResponsesState>({
  api: "openai-responses",
  framing: "sse",
  resolveOptions,
  encode: (model, context, options) => encodeRequest(openai, model as ResponsesModel, context, options),
  authorize: (request, auth) => withApiKey(request, auth),
  sendOverSocket: async (request, options) => (await import("./socket-exchange.ts")).sendOverSocket(request, options),
  start,
  step,
});
