/** Sends one request to the model. It always ends in an answer. */
import {
  type AssistantMessage,
  type AssistantMessageEvent,
  type AssistantMessageEventStream,
  type Context,
  type Message,
} from "@tau/ai";
import { classifyThrown, isRecord } from "@tau/ai/internal";
import { defaultConvertToLlm } from "./convert.ts";
import {
  addMessage,
  callHook,
  type ExpectedValue,
  failedMessage,
  failRun,
  hasOnlyLlmMessages,
  messageList,
  type Run,
} from "./run.ts";
import { unwrapCalls } from "./tool-call.ts";
import { yieldToEventLoop } from "./yield-to-event-loop.ts";

/**
 * Asks the model and reports its answer. If anything fails, the answer has `stopReason` `error` or `aborted`. While the
 * answer arrives, the live partial message is the last one of the working context.
 */
export async function respond(run: Run): Promise<AssistantMessage> {
  const stream = await openStream(run);
  const partial = stream && (await deliverPartial(run, stream));
  const final = stream ? await getFinalMessage(run, stream, partial) : failedMessage(run);
  const answer = unwrapCalls(final, run.context.tools);
  if (!partial) {
    await addMessage(run, answer);
    return answer;
  }
  run.context.messages[run.context.messages.length - 1] = answer;
  run.newMessages.push(answer);
  await run.events.emit({ type: "message_end", message: answer });
  return answer;
}

async function openStream(run: Run): Promise<AssistantMessageEventStream | undefined> {
  if (run.abort.isAborted) return undefined;
  const messages = await convertMessages(run);
  if (!messages) return undefined;
  const { getApiKey } = run.config;
  const key = getApiKey && (await callHook(run, "getApiKey", () => getApiKey(run.current.model.provider)));
  if (run.failure || run.abort.isAborted) return undefined;
  const context: Context = { systemPrompt: run.context.systemPrompt, messages, tools: [...run.context.tools] };
  const { model, reasoning } = run.current;
  const apiKey = key || run.config.apiKey;
  const options = { ...run.streamOptions, ...(reasoning !== "off" && { reasoning }), ...(apiKey && { apiKey }) };
  return await callHook(run, "The stream function", () => run.streamFn(model, context, options), {
    expected: eventStream,
    classify: classifyThrown,
  });
}

const eventStream: ExpectedValue = {
  name: "stream",
  matches(value) {
    const { result, [Symbol.asyncIterator]: iterate } = (value ?? {}) as Partial<AssistantMessageEventStream>;
    return typeof result === "function" && typeof iterate === "function";
  },
};

/** The transcript as the model sees it. The list is a copy: what the run does later does not change the request. */
async function convertMessages(run: Run): Promise<Message[] | undefined> {
  const { transformContext, convertToLlm } = run.config;
  const messages = [...run.context.messages];
  if (!transformContext && convertToLlm === defaultConvertToLlm && hasOnlyLlmMessages(run.context)) {
    return messages as Message[];
  }
  const transform = () => (transformContext ? transformContext(messages, run.abort.signal) : messages);
  const transformed = await callHook(run, "transformContext", transform, { expected: messageList });
  return (
    transformed && (await callHook(run, "convertToLlm", () => convertToLlm(transformed), { expected: messageList }))
  );
}

/** How many events are delivered before timers and sockets may be served. */
const eventsPerSlice = 1_024;

/**
 * Adds the live partial message to the working context and reports it until the stream has ended. Returns the partial
 * message; undefined if the stream had none.
 *
 * This is the only place of the engine that does not simply await: an answer has thousands of deltas, so events that
 * have arrived are read and delivered without a promise for each.
 */
async function deliverPartial(run: Run, stream: AssistantMessageEventStream): Promise<AssistantMessage | undefined> {
  const { messages } = run.context;
  const reader = getReader(stream);
  let partial: AssistantMessage | undefined;
  let count = 0;
  for (;;) {
    const more = await run.abort.settle(() => reader.ready());
    if (more.kind === "failed") failRun(run, "The model's stream", more.error, classifyThrown);
    if (more.kind !== "done" || !more.value) return partial;
    for (let event = reader.read(); event; event = reader.read()) {
      if (event.type === "done" || event.type === "error") return partial;
      if (!isRecord(event.partial)) {
        failRun(
          run,
          "The model's stream",
          new Error(`it sent ${JSON.stringify(event.type)} without a partial message.`),
        );
        return partial;
      }
      if (!partial) {
        messages.push(event.partial);
        await run.events.emit({ type: "message_start", message: event.partial });
      }
      // Some providers send a new partial message with each event instead of changing one.
      partial = event.partial;
      messages[messages.length - 1] = partial;
      if (event.type !== "start") {
        const handling = run.events.emitNow({ type: "message_update", message: partial, assistantMessageEvent: event });
        if (handling) await handling;
      }
      if (run.failure) return partial;
      if (++count % eventsPerSlice === 0) await yieldToEventLoop();
    }
  }
}

type EventReader = Pick<AssistantMessageEventStream, "read" | "ready">;

/** An `EventStream` can be read without a promise for each event; any other stream is iterated. */
function getReader(stream: AssistantMessageEventStream): EventReader {
  if (typeof stream.read === "function" && typeof stream.ready === "function") return stream;
  const iterator = (stream as AsyncIterable<AssistantMessageEvent>)[Symbol.asyncIterator]();
  let next: AssistantMessageEvent | undefined;
  return {
    read() {
      const event = next;
      next = undefined;
      return event;
    },
    async ready() {
      const { done, value } = await iterator.next();
      if (!done) next = value;
      return !done;
    },
  };
}

async function getFinalMessage(
  run: Run,
  stream: AssistantMessageEventStream,
  partial: AssistantMessage | undefined,
): Promise<AssistantMessage> {
  if (!run.failure) {
    const outcome = await run.abort.settle(() => stream.result());
    const problem = outcome.kind === "done" ? getAnswerProblem(outcome.value) : undefined;
    if (outcome.kind === "done" && problem === undefined) return outcome.value;
    if (problem !== undefined) failRun(run, "The model's stream", new Error(problem));
    if (outcome.kind === "failed") failRun(run, "The model's stream", outcome.error, classifyThrown);
  }
  // An abandoned stream may continue to change its own message.
  return failedMessage(run, partial && { ...partial, content: structuredClone(partial.content) });
}

/** Code without types may answer anything, and an answer that is not whole would make every later request invalid. */
function getAnswerProblem(answer: unknown): string | undefined {
  if (!isRecord(answer)) return "its answer is not a message.";
  if (!Array.isArray(answer["content"]) || !answer["content"].every(isRecord)) {
    return "the `content` of its answer is not a list of blocks.";
  }
  return isRecord(answer["usage"]) ? undefined : "its answer has no `usage`.";
}
