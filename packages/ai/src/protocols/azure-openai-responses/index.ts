import { withApiKey } from "../../auth/api-key.ts";
import type { HttpRequest } from "../../transport/http.ts";
import { encodeRequest, type ResponsesModel, type ResponsesVariant } from "../openai-responses/encode.ts";
import { resolveOptions } from "../openai-responses/options.ts";
import { type ResponsesState, start, step } from "../openai-responses/step.ts";
import { defineProtocol } from "../protocol.ts";
import { asRecord } from "../../json.ts";
import { type AzureOptions, resolveDeploymentName, resolveResponsesUrl } from "./endpoint.ts";

const azure: ResponsesVariant = { path: "/responses", outputLimit: true, cacheRetention: false };

/** The Responses protocol on Azure, where the URL and the name of the model's deployment are configured by the user. */
export const azureOpenAIResponses = defineProtocol<AzureOptions, ResponsesState>({
  api: "azure-openai-responses",
  framing: "sse",
  resolveOptions,
  encode: (model, context, options) => encodeRequest(azure, model as ResponsesModel, context, options),
  authorize(request, auth) {
    const keyed = withApiKey(request, auth, { name: "api-key", prefix: "" });
    return { ...withDeployment(keyed, auth.model.id, resolveDeploymentName(auth)), url: resolveResponsesUrl(auth) };
  },
  start,
  step,
});

/** Replaces the model id by the deployment name, unless an `onPayload` hook has already replaced it. */
function withDeployment(request: HttpRequest, model: string, deployment: string): HttpRequest {
  if (deployment === model) return request;
  const payload = asRecord(JSON.parse(request.body));
  return payload["model"] === model ? { ...request, body: JSON.stringify({ ...payload, model: deployment }) } : request;
}
