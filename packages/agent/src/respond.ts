/** One request to the model: from the working context to a message that always comes. */
import {
  type AssistantMessage,
  type AssistantMessageEvent,
  type AssistantMessageEventStream,
  type Context,
  type Message,
  type SimpleStreamOptions,
} from "@tau/ai";
import { isPromise } from "./abort.ts";
import { breathe } from "./breathe.ts";
import { defaultConvertToLlm } from "./convert.ts";
import { addMessage, breakRun, callFor, callHook, failedMessage, isPlain, type Kind, type Run } from "./run.ts";

/**
 * Asks the model and reports its answer. Whatever goes wrong, the answer says so: it then has `stopReason` `error` or
 * `aborted`. The answer is in the working context, live while it arrives.
 */
export async function respond(run: Run): Promise<AssistantMessage> {
  const started = startStream(run);
  const stream = isPromise(started) ? await started : started;
  if (!stream) return await deliver(run, failedMessage(run));
  const { messages } = run.context;
  const reader = getReader(stream);
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
        const taken = run.events.emit({ type: "message_start", message: partial });
        if (taken) await taken;
      } else if (partial !== event.partial) {
        // Not every provider writes into one message: some send a new one with each event.
        messages[place] = partial = event.partial;
      }
      if (event.type !== "start") {
        const taken = run.events.emit({ type: "message_update", message: partial, assistantMessageEvent: event });
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
  const taken = run.events.emit({ type: "message_end", message: final });
  if (taken) await taken;
  return final;
}

type MaybeStream = AssistantMessageEventStream | undefined;

/** Starts at once where no hook has a say before the request. */
function startStream(run: Run): MaybeStream | Promise<MaybeStream> {
  if (run.abort.isAborted) return undefined;
  const context = plainContext(run);
  if (!context || run.config.getApiKey) return startPrepared(run, context);
  return openStream(run, context, streamOptions(run, undefined));
}

async function startPrepared(run: Run, plain: Context | undefined): Promise<MaybeStream> {
  const context = plain ?? (await convertedContext(run));
  if (!context) return undefined;
  const { getApiKey } = run.config;
  const key = await callHook(run, "getApiKey", getApiKey && (() => getApiKey(run.current.model.provider)));
  return await openStream(run, context, streamOptions(run, key));
}

function openStream(run: Run, context: Context, options: SimpleStreamOptions): MaybeStream | Promise<MaybeStream> {
  if (run.trouble.reason !== undefined || run.abort.isAborted) return undefined;
  return callFor(run, "The stream function", () => run.streamFn(run.current.model, context, options), aStream);
}

const messageList: Kind = ["list of messages", Array.isArray];

const isStream = (given: unknown) => {
  const { result, [Symbol.asyncIterator]: iterate } = (given ?? {}) as Partial<AssistantMessageEventStream>;
  return typeof result === "function" && typeof iterate === "function";
};
const aStream: Kind = ["stream", isStream];

/** The transcript as the model sees it. The lists are the request's own: nothing the loop does later shows up in them. */
function plainContext({ config, context }: Run): Context | undefined {
  if (config.transformContext || config.convertToLlm !== defaultConvertToLlm || !isPlain(context)) return undefined;
  const { systemPrompt, messages: list, tools } = context;
  const { length } = list;
  let own: Message[] | undefined;
  return {
    systemPrompt,
    // Copied when somebody looks. Until then it can wait: what is in the list so far stays there as it is.
    get messages() {
      own ??= list.slice(0, length) as Message[];
      return own;
    },
    set messages(given) {
      own = given;
    },
    tools: tools.slice(),
  };
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

function streamOptions({ config, current, streamOptions: shared }: Run, key: string | undefined): SimpleStreamOptions {
  const apiKey = key || config.apiKey;
  const options: SimpleStreamOptions = { ...shared };
  if (current.reasoning !== "off") options.reasoning = current.reasoning;
  if (apiKey) options.apiKey = apiKey;
  return options;
}

/** Our own streams can be read without a promise for each event; others are read as everybody reads them. */
function getReader(stream: AssistantMessageEventStream): Pick<AssistantMessageEventStream, "read" | "ready"> {
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
async function deliver(run: Run, message: AssistantMessage): Promise<AssistantMessage> {
  await addMessage(run, message);
  return message;
}
