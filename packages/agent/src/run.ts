import {
  type AssistantMessage,
  type Clock,
  type Failure,
  type Model,
  type SimpleStreamOptions,
  systemClock,
} from "@tau/ai";
import { createAssistantMessage, getErrorMessage, withFailure } from "@tau/ai/internal";
import { Abort } from "./abort.ts";
import { isLlmMessage } from "./convert.ts";
import { EventOrder } from "./event-order.ts";
import { toThinkingLevel } from "./thinking-level.ts";
import type {
  AgentContext,
  AgentEventSink,
  AgentLoopConfig,
  AgentMessage,
  AgentTool,
  StreamFn,
  ThinkingLevel,
} from "./types.ts";

/** Everything that the parts of one run share. */
export interface Run {
  readonly config: AgentLoopConfig;
  readonly streamFn: StreamFn;
  readonly clock: Clock;
  readonly abort: Abort;
  /** A working copy of the caller's context; the run may change its lists. */
  readonly context: WorkingContext;
  /** The messages that the run has added, prompts included. */
  readonly newMessages: AgentMessage[];
  /** The options of every request; the key and the thinking level are added for each. */
  readonly streamOptions: SimpleStreamOptions;
  /** Settings that `prepareNextTurn` may change between turns. */
  readonly current: { model: Model; reasoning: ThinkingLevel };
  readonly events: EventOrder;
  /** How many calls its tools have made, so that each has an id of its own. */
  nestedCallCount: number;
  /** Why the run cannot continue, if a hook, the stream or a listener failed. Set once, by `failRun`. */
  failure: RunFailure | undefined;
}

interface RunFailure {
  readonly errorMessage: string;
  /** Its message also says what failed: a hook, the stream or a listener. */
  readonly failure: Failure;
}

export interface WorkingContext extends AgentContext {
  tools: AgentTool[];
  /** The messages known to be for models, counted from the first: not all are checked again before each request. */
  llmMessageCount: number;
}

export interface RunParts {
  context: AgentContext;
  prompts: readonly AgentMessage[];
  config: AgentLoopConfig;
  sink: AgentEventSink;
  signal: AbortSignal | undefined;
  streamFn: StreamFn;
}

export function createRun({ context, prompts, config, sink, signal, streamFn }: RunParts): Run {
  const clock = config.clock ?? systemClock;
  const abort = new Abort(signal, clock);
  const run: Run = {
    config,
    streamFn,
    clock,
    abort,
    context: copyContext(context, prompts),
    newMessages: [...prompts],
    streamOptions: toStreamOptions(config, abort.signal),
    current: { model: config.model, reasoning: toThinkingLevel(config.reasoning) },
    events: new EventOrder(sink, (error) => {
      failRun(run, "A listener", error);
      abort.now(error);
    }),
    nestedCallCount: 0,
    failure: undefined,
  };
  return run;
}

/** Finds out what a thrown error means. */
type Classify = (error: unknown) => Failure;

const toUnknownFailure: Classify = (error) => ({ kind: "unknown", message: getErrorMessage(error) });

/** Records why the run cannot continue. The first failure is kept. Only requests to the model have a `classify`. */
export function failRun(run: Run, source: string, error: unknown, classify: Classify = toUnknownFailure): void {
  const errorMessage = getErrorMessage(error);
  run.failure ??= { errorMessage, failure: { ...classify(error), message: `${source} failed: ${errorMessage}` } };
}

/** The part of a config that concerns requests. */
function toStreamOptions(config: AgentLoopConfig, signal: AbortSignal): SimpleStreamOptions {
  const {
    model: _model,
    convertToLlm: _convert,
    transformContext: _transform,
    getApiKey: _key,
    shouldStopAfterTurn: _stop,
    prepareNextTurn: _next,
    getSteeringMessages: _steering,
    getFollowUpMessages: _followUps,
    toolExecution: _execution,
    findTool: _find,
    beforeToolCall: _before,
    onToolExecution: _execute,
    aroundToolExecution: _around,
    afterToolCall: _after,
    reasoning: _reasoning,
    apiKey: _apiKey,
    ...options
  } = config;
  return { ...options, signal };
}

export function copyContext(context: AgentContext, prompts: readonly AgentMessage[] = []): WorkingContext {
  const { systemPrompt, messages, tools } = context;
  return { systemPrompt, messages: [...messages, ...prompts], tools: [...(tools ?? [])], llmMessageCount: 0 };
}

/** Whether models understand every message, so that the default conversion would leave none out. */
export function hasOnlyLlmMessages(context: WorkingContext): boolean {
  const { messages } = context;
  let count = Math.min(context.llmMessageCount, messages.length);
  while (count < messages.length && isLlmMessage(messages[count]!)) count++;
  context.llmMessageCount = count;
  return count === messages.length;
}

/** A value that a hook has to return: code without types may return anything. */
export interface ExpectedValue {
  readonly name: string;
  matches(value: unknown): boolean;
}

export const messageList: ExpectedValue = { name: "list of messages", matches: Array.isArray };

const optionalMessageList: ExpectedValue = {
  name: messageList.name,
  matches: (value) => value === undefined || value === null || Array.isArray(value),
};

/**
 * Calls a hook and waits for it. The run fails if the hook throws or returns something else than
 * `expected`. A hook that hangs is abandoned when the run is aborted. Returns undefined in all these cases.
 */
export async function callHook<T>(
  run: Run,
  name: string,
  hook: () => T | Promise<T>,
  { expected, classify }: { expected?: ExpectedValue; classify?: Classify } = {},
): Promise<T | undefined> {
  if (run.failure) return undefined;
  const outcome = await run.abort.settle(hook);
  if (outcome.kind === "done") {
    if (!expected || expected.matches(outcome.value)) return outcome.value;
    if (!run.abort.isAborted) failRun(run, name, `it returned no ${expected.name}.`);
  } else if (outcome.kind === "failed" && !isAbortError(run, outcome.error))
    failRun(run, name, outcome.error, classify);
  return undefined;
}

/** Whether code threw because the run was aborted, as it should. */
const isAbortError = ({ abort: { signal } }: Run, error: unknown) =>
  signal.aborted && (error === signal.reason || (error as Error | undefined)?.name === "AbortError");

/** Polls a queue of messages. An aborted run takes none: they stay queued for the next run. */
export async function pollMessages(
  run: Run,
  name: "getSteeringMessages" | "getFollowUpMessages",
): Promise<AgentMessage[]> {
  const poll = run.config[name];
  if (!poll || run.abort.isAborted) return [];
  return (await callHook(run, name, poll, { expected: optionalMessageList })) ?? [];
}

/** Adds a message that is complete from the start to the transcript, and reports it. */
export function addMessage(run: Run, message: AgentMessage): Promise<void> {
  run.context.messages.push(message);
  run.newMessages.push(message);
  return reportMessage(run, message);
}

/** Reports a message that is complete from the start. */
export async function reportMessage(run: Run, message: AgentMessage): Promise<void> {
  await run.events.emit({ type: "message_start", message });
  await run.events.emit({ type: "message_end", message });
}

/** The answer of a run that has failed or was aborted. */
export function failedMessage(run: Run, partial?: AssistantMessage): AssistantMessage {
  const base = partial ?? createAssistantMessage(run.current.model, run.clock.now());
  if (run.failure) {
    const { failure, errorMessage } = run.failure;
    return { ...withFailure(base, failure), errorMessage };
  }
  return withFailure(base, { kind: "aborted", message: "The run was aborted." });
}
