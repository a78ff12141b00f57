import { withApiKey } from "../../auth/api-key.ts";
import type { HttpRequest } from "../../transport/http.ts";
import { encodeRequest, type ResponsesModel, type ResponsesVariant } from "../openai-responses/encode.ts";
import { resolveOptions } from "../openai-responses/options.ts";
import { type ResponsesState, start, step } from "../openai-responses/step.ts";
import { defineProtocol } from "../protocol.ts";
import { record } from "../read.ts";
import { type AzureOptions, deploymentName, responsesUrl } from "./endpoint.ts";

const azure: ResponsesVariant = {
  path: "/responses",
  outputLimit: true,
  cacheRetention: false,
  fields: {},
  headers: () => ({}),
};

/** The Responses protocol, on a resource of one's own: its address and its name for the model are configuration. */
export const azureOpenAIResponses = defineProtocol<AzureOptions, ResponsesState>({
  api: "azure-openai-responses",
  framing: "sse",
  resolveOptions,
  encode: (model, context, options) => encodeRequest(azure, model as ResponsesModel, context, options),
  authorize(request, auth) {
    const keyed = withApiKey(request, auth, { name: "api-key", prefix: "" });
    return { ...withDeployment(keyed, auth.model.id, deploymentName(auth)), url: responsesUrl(auth) };
  },
  start,
  step,
});

/** Asks for the deployment, unless a hook has put something else in the model's place. */
function withDeployment(request: HttpRequest, model: string, deployment: string): HttpRequest {
  if (deployment === model) return request;
  const payload = record(JSON.parse(request.body));
  return payload["model"] === model ? { ...request, body: JSON.stringify({ ...payload, model: deployment }) } : request;
}
