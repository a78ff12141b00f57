/** One request to the model: from the working context to a message that always comes. */
import {
  type AssistantMessage,
  type AssistantMessageEvent,
  type AssistantMessageEventStream,
  type Context,
  type Message,
  type SimpleStreamOptions,
} from "@tau/ai";
import { after } from "./abort.ts";
import { breathe } from "./breathe.ts";
import { defaultConvertToLlm } from "./convert.ts";
import { addMessage, breakRun, callFor, callHook, failedMessage, isPlain, type Run } from "./run.ts";

/**
 * Asks the model and reports its answer. Whatever goes wrong, the answer says so: it then has `stopReason` `error` or
 * `aborted`. The answer is in the working context, live while it arrives.
 */
export function respond(run: Run): AssistantMessage | Promise<AssistantMessage> {
  return after(startStream(run), (stream) => (stream ? readStream(run, stream) : deliver(run, failedMessage(run))));
}

type MaybeStream = AssistantMessageEventStream | undefined;

function startStream(run: Run): MaybeStream | Promise<MaybeStream> {
  if (run.abort.signal.aborted) return undefined;
  return after(plainContext(run) ?? convertedContext(run), (context) =>
    after(context && requestOptions(run), (options) => {
      if (!context || !options || run.abort.signal.aborted) return undefined;
      return callFor(run, "The stream function", () => run.streamFn(run.current.model, context, options), aStream);
    }),
  );
}

const messageList = ["list of messages", Array.isArray] as const;

const isStream = (given: unknown) => {
  const { result, [Symbol.asyncIterator]: iterate } = (given ?? {}) as Partial<AssistantMessageEventStream>;
  return typeof result === "function" && typeof iterate === "function";
};
const aStream = ["stream", isStream] as const;

/** The transcript as the model sees it. The lists are copies: nothing the loop does later shows up in them. */
function plainContext({ config, context }: Run): Context | undefined {
  if (config.transformContext || config.convertToLlm !== defaultConvertToLlm || !isPlain(context)) return undefined;
  const { systemPrompt, messages, tools } = context;
  return { systemPrompt, messages: messages.slice() as Message[], tools: tools.slice() };
}

/** The same, where hooks or messages of the application's own have a say. */
async function convertedContext(run: Run): Promise<Context | undefined> {
  const { config, context } = run;
  let messages = context.messages.slice();
  const { transformContext } = config;
  if (transformContext) {
    const transformed = await callFor(
      run,
      "transformContext",
      () => transformContext(messages, run.abort.signal),
      messageList,
    );
    if (!transformed) return undefined;
    messages = transformed;
  }
  const converted = await callFor(run, "convertToLlm", () => config.convertToLlm(messages), messageList);
  return converted && { systemPrompt: context.systemPrompt, messages: converted, tools: context.tools.slice() };
}

function requestOptions(run: Run): SimpleStreamOptions | undefined | Promise<SimpleStreamOptions | undefined> {
  const { getApiKey } = run.config;
  const key = callHook(run, "getApiKey", getApiKey && (() => getApiKey(run.current.model.provider)));
  return after(key, (found) => streamOptions(run, found));
}

function streamOptions(run: Run, key: string | undefined): SimpleStreamOptions | undefined {
  const { config, current } = run;
  if (run.trouble.reason !== undefined) return undefined;
  const apiKey = key || config.apiKey;
  return {
    ...run.streamOptions,
    ...(current.reasoning !== "off" && { reasoning: current.reasoning }),
    ...(apiKey && { apiKey }),
  };
}

/** Reports the answer while it arrives. */
async function readStream(run: Run, stream: AssistantMessageEventStream): Promise<AssistantMessage> {
  const { messages } = run.context;
  const reader = readerOf(stream);
  let partial: AssistantMessage | undefined;
  let ending: AssistantMessage | undefined;
  let place = -1;
  let seen = 0;
  for (;;) {
    for (let event = reader.read(); event !== undefined; event = reader.read()) {
      if (event.type === "done" || event.type === "error") {
        ending = event.type === "done" ? event.message : event.error;
        break;
      }
      if (partial === undefined) {
        partial = event.partial;
        place = messages.push(partial) - 1;
        const taken = run.emit({ type: "message_start", message: partial });
        if (taken) await taken;
      } else if (partial !== event.partial) {
        // Not every provider writes into one message: some send a new one with each event.
        messages[place] = partial = event.partial;
      }
      if (event.type !== "start") {
        const taken = run.emit({ type: "message_update", message: partial, assistantMessageEvent: event });
        if (taken) await taken;
      }
      // A long answer that is all here already must not keep everybody else waiting.
      if ((++seen & 1_023) === 0) await breathe();
      if (run.trouble.reason !== undefined) break;
    }
    if (ending || run.trouble.reason !== undefined) break;
    const more = await run.abort.settle(reader.ready());
    if (more.kind === "failed") breakRun(run, "The model's stream", more.error);
    if (more.kind !== "done" || !more.value) break;
  }
  // What one of our own streams ends in is its result; others are asked.
  const isOurs = reader === stream && run.trouble.reason === undefined;
  const final = (isOurs && ending) || (await finalMessage(run, stream, partial));
  if (partial === undefined) return await deliver(run, final);
  messages[place] = final;
  run.newMessages.push(final);
  const taken = run.emit({ type: "message_end", message: final });
  if (taken) await taken;
  return final;
}

/** Our own streams can be read without a promise for each event; others are read as everybody reads them. */
function readerOf(stream: AssistantMessageEventStream): Pick<AssistantMessageEventStream, "read" | "ready"> {
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

async function finalMessage(
  run: Run,
  stream: AssistantMessageEventStream,
  partial: AssistantMessage | undefined,
): Promise<AssistantMessage> {
  if (run.trouble.reason === undefined) {
    const settled = await run.abort.settle(stream.result());
    if (settled.kind === "done") return settled.value;
    if (settled.kind === "failed") breakRun(run, "The model's stream", settled.error);
  }
  // A stream that was left behind may go on writing into its message, so ours is a copy.
  return failedMessage(run, partial && { ...partial, content: structuredClone(partial.content) });
}

/** An answer that comes all at once. */
function deliver(run: Run, message: AssistantMessage): AssistantMessage | Promise<AssistantMessage> {
  return after(addMessage(run, message), () => message);
}
