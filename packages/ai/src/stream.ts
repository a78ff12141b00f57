import { systemClock } from "./clock.ts";
import type { Context } from "./context.ts";
import { AiError, getErrorMessage } from "./errors.ts";
import { AssistantMessageEventStream } from "./event-stream.ts";
import type { AssistantMessage } from "./message.ts";
import type { Api, Model } from "./model.ts";
import type { ProviderStreamOptions, SimpleStreamOptions } from "./options.ts";
import { type ApiProvider, getApiProvider } from "./registry.ts";
import { emptyUsage } from "./usage.ts";

/** Asks a model, with options in its API's own terms. Returns at once; failures are the stream's last event. */
export function stream<TApi extends Api>(
  model: Model<TApi>,
  context: Context,
  options?: ProviderStreamOptions,
): AssistantMessageEventStream {
  return callProvider(model, (provider) => provider.stream(model, context, options));
}

/** Asks a model, with options that mean the same for every provider. */
export function streamSimple<TApi extends Api>(
  model: Model<TApi>,
  context: Context,
  options?: SimpleStreamOptions,
): AssistantMessageEventStream {
  return callProvider(model, (provider) => provider.streamSimple(model, context, options));
}

/** The answer of `stream`, when it is complete. Never rejects for weather: look at `stopReason`. */
export function complete<TApi extends Api>(
  model: Model<TApi>,
  context: Context,
  options?: ProviderStreamOptions,
): Promise<AssistantMessage> {
  return stream(model, context, options).result();
}

/** The answer of `streamSimple`, when it is complete. */
export function completeSimple<TApi extends Api>(
  model: Model<TApi>,
  context: Context,
  options?: SimpleStreamOptions,
): Promise<AssistantMessage> {
  return streamSimple(model, context, options).result();
}

/** The wall around other people's providers: one that throws instead of returning a stream fails inside a stream. */
function callProvider(
  model: Model,
  call: (provider: ApiProvider) => AssistantMessageEventStream,
): AssistantMessageEventStream {
  const provider = getApiProvider(model.api);
  try {
    const stream = provider && call(provider);
    if (stream) return stream;
  } catch (error) {
    return failedStream(model, error);
  }
  if (provider) return failedStream(model, new AiError("invalid_provider", `${model.api} returned no stream.`));
  return failedStream(
    model,
    new AiError(
      "unknown_api",
      `Nothing speaks the API ${JSON.stringify(model.api)} of ${model.provider}/${model.id}. Register it with registerApiProvider.`,
    ),
  );
}

function failedStream(model: Model, error: unknown): AssistantMessageEventStream {
  const failed = new AssistantMessageEventStream();
  const errorMessage = getErrorMessage(error);
  failed.end({
    role: "assistant",
    content: [],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: emptyUsage(),
    stopReason: "error",
    errorMessage,
    failure: { kind: "unknown", message: errorMessage },
    timestamp: systemClock.now(),
  });
  return failed;
}
