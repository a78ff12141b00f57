/** Requests with a model, through the implementation of its API. */
import {
  type Api,
  type ApiProvider,
  type AssistantMessage,
  type AssistantMessageEventStream,
  clearApiProviders,
  type Context,
  getApiProvider as findApiProvider,
  getApiProviders as listApiProviders,
  type Model,
  type ProviderStreamOptions,
  registerApiProvider as addApiProvider,
  type SimpleStreamOptions,
  type StreamOptions,
} from "@tau/ai";
import { callProvider, getBuiltinProvider } from "@tau/ai/internal";
import { acceptTranscripts, type ProviderStreams } from "./lazy.ts";
import { toContext, toProviderContext } from "./transcript.ts";

/** Requests go to the API of the model. A provider with a stream function of its own calls these, and must not be called again. */
export const stream = (model: Model, context: Context, options?: ProviderStreamOptions): AssistantMessageEventStream =>
  callProvider(findApiProvider(model.api), model, (api) => api.stream(model, toContext(context), options));

export const streamSimple = (
  model: Model,
  context: Context,
  options?: SimpleStreamOptions,
): AssistantMessageEventStream =>
  callProvider(findApiProvider(model.api), model, (api) => api.streamSimple(model, toContext(context), options));

export const complete = (model: Model, context: Context, options?: ProviderStreamOptions): Promise<AssistantMessage> =>
  stream(model, context, options).result();

export const completeSimple = (
  model: Model,
  context: Context,
  options?: SimpleStreamOptions,
): Promise<AssistantMessage> => streamSimple(model, context, options).result();

/** The provider is called with a context that also has its prompt and tools as a first system message. */
export function registerApiProvider<TOptions extends StreamOptions>(
  { api, stream, streamSimple }: ApiProvider<Api, TOptions>,
  sourceId?: string,
): void {
  const provider: ApiProvider<Api, TOptions> = {
    api,
    stream: (model, context, options) => stream(model, toProviderContext(context), options),
    streamSimple: (model, context, options) => streamSimple(model, toProviderContext(context), options),
  };
  addApiProvider(provider, sourceId);
}

const toPi = (provider: ApiProvider): ApiProvider => ({
  api: provider.api,
  ...acceptTranscripts(provider as ProviderStreams),
});

export function getApiProvider(api: Api): ApiProvider | undefined {
  const provider = findApiProvider(api);
  return provider && toPi(provider);
}

export const getApiProviders = (): ApiProvider[] => listApiProviders().map(toPi);

/** The built-in ones are always there. */
export const registerBuiltInApiProviders = (): void => undefined;

export const resetApiProviders = (): void => clearApiProviders();

const getBuiltIn = (api: Api) => (): ProviderStreams => toPi(getBuiltinProvider(api)!) as ProviderStreams;

export const anthropicMessagesApi = getBuiltIn("anthropic-messages");
export const azureOpenAIResponsesApi = getBuiltIn("azure-openai-responses");
export const bedrockConverseStreamApi = getBuiltIn("bedrock-converse-stream");
export const googleGenerativeAIApi = getBuiltIn("google-generative-ai");
export const googleVertexApi = getBuiltIn("google-vertex");
export const mistralConversationsApi = getBuiltIn("mistral-conversations");
export const openAICodexResponsesApi = getBuiltIn("openai-codex-responses");
export const openAICompletionsApi = getBuiltIn("openai-completions");
export const openAIResponsesApi = getBuiltIn("openai-responses");

type Stream = ProviderStreams["stream"];

const streamOf =
  (getApi: () => ProviderStreams): Stream =>
  (...request) =>
    getApi().stream(...request);
const simpleStreamOf =
  (getApi: () => ProviderStreams): Stream =>
  (...request) =>
    getApi().streamSimple(...request);

export const streamAnthropic = streamOf(anthropicMessagesApi);
export const streamSimpleAnthropic = simpleStreamOf(anthropicMessagesApi);
export const streamAzureOpenAIResponses = streamOf(azureOpenAIResponsesApi);
export const streamSimpleAzureOpenAIResponses = simpleStreamOf(azureOpenAIResponsesApi);
export const streamGoogle = streamOf(googleGenerativeAIApi);
export const streamSimpleGoogle = simpleStreamOf(googleGenerativeAIApi);
export const streamGoogleVertex = streamOf(googleVertexApi);
export const streamSimpleGoogleVertex = simpleStreamOf(googleVertexApi);
export const streamMistral = streamOf(mistralConversationsApi);
export const streamSimpleMistral = simpleStreamOf(mistralConversationsApi);
export const streamOpenAICodexResponses = streamOf(openAICodexResponsesApi);
export const streamSimpleOpenAICodexResponses = simpleStreamOf(openAICodexResponsesApi);
export const streamOpenAICompletions = streamOf(openAICompletionsApi);
export const streamSimpleOpenAICompletions = simpleStreamOf(openAICompletionsApi);
export const streamOpenAIResponses = streamOf(openAIResponsesApi);
export const streamSimpleOpenAIResponses = simpleStreamOf(openAIResponsesApi);
