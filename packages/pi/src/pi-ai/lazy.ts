/** Streams that are returned at once while what they need is still being prepared. */
import {
  type AssistantMessage,
  type AssistantMessageEvent,
  AssistantMessageEventStream,
  type Context,
  type Model,
  type SimpleStreamOptions,
} from "@tau/ai";
import { createAssistantMessage, getErrorMessage } from "@tau/ai/internal";
import { toContext, type TranscriptContext } from "./transcript.ts";

export interface ProviderStreams {
  stream(model: Model, context: Context, options?: SimpleStreamOptions): AssistantMessageEventStream;
  streamSimple(model: Model, context: Context, options?: SimpleStreamOptions): AssistantMessageEventStream;
}

interface Observer {
  onEvent?(event: AssistantMessageEvent): void;
  onResult?(result: AssistantMessage | undefined): void;
}

/** A failure of `setup` becomes the last event. */
export function lazyStream(
  model: Model,
  setup: () => Promise<AsyncIterable<AssistantMessageEvent>>,
  observer: Observer = {},
): AssistantMessageEventStream {
  const stream = new AssistantMessageEventStream();
  void forward(stream, setup, observer).catch((error: unknown) => {
    const message: AssistantMessage = {
      ...createAssistantMessage(model, Date.now()),
      stopReason: "error",
      errorMessage: getErrorMessage(error),
    };
    stream.push({ type: "error", reason: "error", error: message });
    observer.onResult?.(message);
  });
  return stream;
}

async function forward(
  stream: AssistantMessageEventStream,
  setup: () => Promise<AsyncIterable<AssistantMessageEvent>>,
  observer: Observer,
): Promise<void> {
  let result: AssistantMessage | undefined;
  for await (const event of await setup()) {
    observer.onEvent?.(event);
    if (event.type === "done") result = event.message;
    if (event.type === "error") result = event.error;
    stream.push(event);
  }
  stream.end();
  observer.onResult?.(result);
}

/** Loads an implementation with its first request. */
export function lazyApi(load: () => Promise<ProviderStreams>): ProviderStreams {
  return {
    stream: (model, context, options) => lazyStream(model, async () => (await load()).stream(model, context, options)),
    streamSimple: (model, context, options) =>
      lazyStream(model, async () => (await load()).streamSimple(model, context, options)),
  };
}

/** An implementation of tau, which takes its prompt and tools beside the messages. */
export function acceptTranscripts({ stream, streamSimple }: ProviderStreams): ProviderStreams {
  const convert =
    (call: ProviderStreams["stream"]) =>
    (model: Model, context: Context | TranscriptContext, options?: SimpleStreamOptions) =>
      call(model, toContext(context), options);
  return { stream: convert(stream), streamSimple: convert(streamSimple) };
}
