import { requireApiKey } from "../../auth/api-key.ts";
import { encodeRequest, type ResponsesModel, type ResponsesVariant } from "../openai-responses/encode.ts";
import { type OpenAIResponsesOptions, resolveOptions } from "../openai-responses/options.ts";
import { type ResponsesState, start, step } from "../openai-responses/step.ts";
import { defineProtocol } from "../protocol.ts";
import { getPromptCacheKey, toHeaderValue } from "../session-affinity.ts";
import { getAccountId } from "./account.ts";

const codex: ResponsesVariant = {
  path: "/codex/responses",
  instructions: { fallback: "Help the person you are talking to." },
  outputLimit: false,
  cacheRetention: false,
  samplingParams: false,
  fields: { text: { verbosity: "low" }, tool_choice: "auto", parallel_tool_calls: true },
  headers(_model, options) {
    const cacheKey = getPromptCacheKey(options);
    const session = cacheKey && toHeaderValue(cacheKey);
    return {
      "openai-beta": "responses=experimental",
      originator: "tau",
      ...(session && { "session-id": session, "x-client-request-id": session }),
    };
  },
};

/** The version of the protocol over WebSocket, in place of that over HTTP. */
const socketVersion = "responses_websockets=2026-02-06";

/** The Responses protocol for ChatGPT subscriptions. The API key is the access token of the ChatGPT account. */
export const openaiCodexResponses = defineProtocol<OpenAIResponsesOptions, ResponsesState>({
  api: "openai-codex-responses",
  framing: "sse",
  resolveOptions,
  encode: (model, context, options) => encodeRequest(codex, model as ResponsesModel, context, options),
  authorize(request, auth) {
    const token = requireApiKey(auth);
    if (token === undefined) return request;
    const credentials = { authorization: `Bearer ${token}`, "chatgpt-account-id": getAccountId(token) };
    return { ...request, headers: { ...request.headers, ...credentials } };
  },
  async sendOverSocket(request, options) {
    const { sendOverSocket } = await import("../openai-responses/socket-exchange.ts");
    return await sendOverSocket(request, { ...options, headers: { "openai-beta": socketVersion } });
  },
  start,
  step,
});
