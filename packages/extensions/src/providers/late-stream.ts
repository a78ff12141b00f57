/** Streams that are returned at once, while what they need is still being prepared: extensions do not wait for a stream. */
import { type AssistantMessageEvent, AssistantMessageEventStream, type Model } from "@tau/ai";
import { createAssistantMessage, getErrorMessage, withFailure } from "@tau/ai/internal";

/** A failure of `start` ends the stream. */
export function startLate(
  model: Model,
  start: () => AsyncIterable<AssistantMessageEvent> | Promise<AsyncIterable<AssistantMessageEvent>>,
): AssistantMessageEventStream {
  const stream = new AssistantMessageEventStream();
  pass(start, stream).catch((error: unknown) => {
    const failure = { kind: "unknown", message: getErrorMessage(error) } as const;
    stream.end({ ...withFailure(createAssistantMessage(model, Date.now()), failure), stopReason: "error" });
  });
  return stream;
}

async function pass(start: Parameters<typeof startLate>[1], stream: AssistantMessageEventStream): Promise<void> {
  for await (const event of await start()) stream.push(event);
}
