import { withApiKey } from "../../auth/api-key.ts";
import { type AzureEndpointOptions, toAzureRequest } from "../azure-endpoint.ts";
import { encodeRequest, type ResponsesModel, type ResponsesVariant } from "../openai-responses/encode.ts";
import { type OpenAIResponsesOptions, resolveOptions } from "../openai-responses/options.ts";
import { type ResponsesState, start, step } from "../openai-responses/step.ts";
import { defineProtocol } from "../protocol.ts";

export type AzureOptions = OpenAIResponsesOptions & AzureEndpointOptions;

const azure: ResponsesVariant = { path: "/responses", outputLimit: true, cacheRetention: false, samplingParams: true };

/** The Responses protocol on Azure, where the URL and the name of the model's deployment are configured by the user. */
export const azureOpenAIResponses = defineProtocol<AzureOptions, ResponsesState>({
  api: "azure-openai-responses",
  framing: "sse",
  resolveOptions,
  encode: (model, context, options) => encodeRequest(azure, model as ResponsesModel, context, options),
  authorize(request, auth) {
    const keyed = withApiKey(request, auth, { name: "api-key", prefix: "" });
    return toAzureRequest(keyed, auth, azure.path);
  },
  start,
  step,
});
