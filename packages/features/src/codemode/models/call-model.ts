/** Calls of classifiers and of models for images, with the keys, the proxy, the retries and the budget of the session's requests. */
import {
  type AssistantMessage,
  type Context,
  emptyUsage,
  type Model,
  registerApiProvider,
  type SimpleStreamOptions,
  type Usage,
} from "@tau/ai";
import { asRecord, createCustomApiProvider, joinTextBlocks, platform, tryParseJson } from "@tau/ai/internal";
import { keyVariables, type OtherModel } from "./catalog.ts";
import { openaiDecisions } from "./openai-decisions.ts";
import { openrouterImages } from "./openrouter-images.ts";
import { cloudflareSystemOne, systemOne } from "./system-one.ts";
import type { WireProtocol, WireUsage } from "./wire.ts";

const protocols: Readonly<Record<string, WireProtocol>> = {
  "openrouter-images": openrouterImages,
  "openai-decisions": openaiDecisions,
  "typesafe-system-one": systemOne,
  "cloudflare-workers-ai-system-one": cloudflareSystemOne,
};

/** The arguments of a call besides the model, which are passed through the options of the request to the API below. */
interface CallConfig {
  readonly other: OtherModel;
  readonly context: unknown;
  readonly apiKey?: string;
}

let areRegistered = false;

/** Adds the APIs of these models, once in a process. An answer is a text with the JSON of the result for the script. */
function registerOtherApis(): void {
  if (areRegistered) return;
  areRegistered = true;
  for (const [api, protocol] of Object.entries(protocols)) registerApiProvider(createApi(api, protocol));
}

/** Created per request, because an answer is read with what was asked. */
function createApi(api: string, { encode, decode, readUsage }: WireProtocol) {
  const stream = (model: Model, context: Context, options: SimpleStreamOptions & { config?: unknown } = {}) => {
    const { other, context: asked } = asRecord(options.config) as Partial<CallConfig>;
    const provider = createCustomApiProvider<CallConfig>({
      api,
      displayName: model.provider,
      definition: {
        name: model.provider,
        models: [],
        auth: { type: "api-key", header: "authorization", prefix: "Bearer", ...withVariable(model.provider) },
        buildRequest() {
          if (!other) throw new Error(`${model.provider}/${model.id} is not a model for conversations.`);
          const { path, headers, body } = encode(other, asked);
          return {
            url: resolveBaseUrl(model.baseUrl, options) + path,
            body,
            ...(headers && { headers: { ...headers } }),
          };
        },
        parseResponse(response) {
          const usage = readUsage(response);
          return {
            content: JSON.stringify(decode(response, asked)),
            ...(usage && { usage: toChatUsage(usage) }),
          };
        },
      },
    });
    return provider.streamSimple(model, context, options);
  };
  return { api, stream, streamSimple: stream };
}

const toChatUsage = ({ input, output, cost }: WireUsage) => ({
  inputTokens: input,
  outputTokens: output,
  ...(cost !== undefined && { cost }),
});

const withVariable = (provider: string) => {
  const envVar = keyVariables[provider];
  return envVar === undefined ? {} : { envVar };
};

function resolveBaseUrl(baseUrl: string, { env, ambientCredentials = true }: SimpleStreamOptions): string {
  const url = baseUrl.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const value = env?.[name] ?? (ambientCredentials ? platform.env(name) : undefined);
    if (!value) throw new Error(`The base URL needs ${name}. Set it in the environment.`);
    return encodeURIComponent(value);
  });
  return url.replace(/\/+$/, "");
}

/** The result of a call, as scripts get it. */
export interface CallResult {
  readonly provider: string;
  readonly model: string;
  readonly stopReason: "stop" | "error" | "aborted";
  readonly errorMessage?: string;
  readonly usage?: Usage;
  readonly [key: string]: unknown;
}

type Complete = (model: Model, context: Context, options?: SimpleStreamOptions) => Promise<AssistantMessage>;

/** Calls a model. Never rejects for what a provider answers. */
export async function callOtherModel(
  complete: Complete,
  other: OtherModel,
  context: unknown,
  signal: AbortSignal,
): Promise<CallResult> {
  registerOtherApis();
  const options = { signal, maxRetries: 2, config: { other, context } satisfies CallConfig };
  const answer = await complete(toModel(other), { messages: [] }, options);
  const names = { provider: other.provider, model: other.id };
  if (answer.stopReason === "error" || answer.stopReason === "aborted")
    return {
      ...names,
      stopReason: answer.stopReason,
      errorMessage: answer.errorMessage ?? "The model did not answer.",
    };
  const result = asRecord(tryParseJson(joinTextBlocks(answer.content.filter((block) => block.type === "text"))));
  const { usage } = answer;
  return { ...names, stopReason: "stop", ...result, ...(usage.totalTokens > 0 && { usage }) };
}

/** A model as requests have it. Its answer is never part of a conversation. */
function toModel({ provider, id, name, api, baseUrl, input, ...rest }: OtherModel): Model {
  const cost = { ...emptyUsage().cost, ...asRecord(rest["cost"]) };
  return {
    provider,
    id,
    name,
    api,
    baseUrl,
    input: [...input],
    reasoning: false,
    cost: { input: cost.input, output: cost.output, cacheRead: cost.cacheRead, cacheWrite: cost.cacheWrite },
    contextWindow: typeof rest["contextWindow"] === "number" ? rest["contextWindow"] : 100_000,
    maxTokens: 8_192,
  } as Model;
}
