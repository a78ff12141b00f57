import { createAssistantMessage } from "./assistant-message.ts";
import { systemClock } from "./clock.ts";
import type { Context } from "./context.ts";
import { AiError, getErrorMessage } from "./errors.ts";
import { AssistantMessageEventStream } from "./event-stream.ts";
import type { AssistantMessage } from "./message.ts";
import type { Api, Model } from "./model.ts";
import type { ProviderStreamOptions, SimpleStreamOptions } from "./options.ts";
import { type ApiProvider, findStreams } from "./registry.ts";

/** Sends a request with the options of the model's API. Returns immediately; a failure is the stream's last event. */
export function stream<TApi extends Api>(
  model: Model<TApi>,
  context: Context,
  options?: ProviderStreamOptions,
): AssistantMessageEventStream {
  return callProvider(findStreams(checkModel(model)), model, (provider) => provider.stream(model, context, options));
}

/** Sends a request with options that mean the same for every provider. */
export function streamSimple<TApi extends Api>(
  model: Model<TApi>,
  context: Context,
  options?: SimpleStreamOptions,
): AssistantMessageEventStream {
  return callProvider(findStreams(checkModel(model)), model, (provider) =>
    provider.streamSimple(model, context, options),
  );
}

/** The complete answer of `stream`. Does not reject on expected failures: check `stopReason`. */
export function complete<TApi extends Api>(
  model: Model<TApi>,
  context: Context,
  options?: ProviderStreamOptions,
): Promise<AssistantMessage> {
  return stream(model, context, options).result();
}

/** The complete answer of `streamSimple`. Does not reject on expected failures: check `stopReason`. */
export function completeSimple<TApi extends Api>(
  model: Model<TApi>,
  context: Context,
  options?: SimpleStreamOptions,
): Promise<AssistantMessage> {
  return streamSimple(model, context, options).result();
}

/** `getModel` has none for a name that the catalogue does not have. */
function checkModel(model: Model | undefined): Model {
  if (model) return model;
  throw new AiError("unknown_model", "There is no model to send the request to: getModel() found none.");
}

/** If there is no provider, or if it throws or returns no stream, returns a stream with the error. */
export function callProvider(
  provider: ApiProvider | undefined,
  model: Model,
  call: (provider: ApiProvider) => AssistantMessageEventStream,
): AssistantMessageEventStream {
  try {
    const stream = provider && call(provider);
    if (stream) return stream;
  } catch (error) {
    return createFailedStream(model, error);
  }
  if (provider) return createFailedStream(model, new AiError("invalid_provider", `${model.api} returned no stream.`));
  return createFailedStream(
    model,
    new AiError(
      "unknown_api",
      `${model.provider}/${model.id} uses the unknown API ${JSON.stringify(model.api)}. Register it with registerApiProvider.`,
    ),
  );
}

function createFailedStream(model: Model, error: unknown): AssistantMessageEventStream {
  const stream = new AssistantMessageEventStream();
  const errorMessage = getErrorMessage(error);
  stream.end({
    ...createAssistantMessage(model, systemClock.now()),
    stopReason: "error",
    errorMessage,
    failure: { kind: "unknown", message: errorMessage },
  });
  return stream;
}
