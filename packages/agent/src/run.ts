import {
  type AssistantMessage,
  type Clock,
  emptyUsage,
  getErrorMessage,
  type Model,
  type SimpleStreamOptions,
  systemClock,
} from "@tau/ai";
import { Abort, isPromise, isThenable } from "./abort.ts";
import { isLlmMessage } from "./convert.ts";
import { toThinkingLevel } from "./thinking-level.ts";
import { EventOrder } from "./event-order.ts";
import type {
  AgentContext,
  AgentEventSink,
  AgentLoopConfig,
  AgentMessage,
  AgentTool,
  StreamFn,
  ThinkingLevel,
} from "./types.ts";

/** Everything one run shares. */
export interface Run {
  readonly config: AgentLoopConfig;
  readonly streamFn: StreamFn;
  readonly clock: Clock;
  readonly abort: Abort;
  /** The working copy; its lists are the run's own. */
  readonly context: WorkingContext;
  /** What the run has added, prompts included. */
  readonly newMessages: AgentMessage[];
  /** What every request is asked with; key and thinking level are added to it. */
  readonly streamOptions: SimpleStreamOptions;
  /** What may change between turns. */
  readonly current: { model: Model; reasoning: ThinkingLevel };
  /** Why the run cannot go on, if a hook or a listener broke. The first reason counts. */
  readonly trouble: Trouble;
  readonly events: EventOrder;
}

export interface Trouble {
  /** Who failed, and why. */
  reason: string | undefined;
  /** Only why. */
  errorMessage: string;
}

export interface WorkingContext extends AgentContext {
  tools: AgentTool[];
  /** So many messages are known to be plain, not the application's own: a long transcript is not searched every turn. */
  plainCount: number;
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
  const trouble: Trouble = { reason: undefined, errorMessage: "" };
  const events = new EventOrder(sink, (error) => {
    note(trouble, "A listener", error);
    abort.now(error);
  });
  return {
    config,
    streamFn,
    clock,
    abort,
    context: copyContext(context, prompts),
    newMessages: [...prompts],
    streamOptions: requestOptions(config, abort.signal),
    current: { model: config.model, reasoning: toThinkingLevel(config.reasoning) },
    trouble,
    events,
  };
}

function note(trouble: Trouble, who: string, error: unknown): void {
  if (trouble.reason !== undefined) return;
  trouble.errorMessage = getErrorMessage(error);
  trouble.reason = `${who} failed: ${trouble.errorMessage}`;
}

/** Remembers who broke the run: it cannot go on. */
export const breakRun = (run: Run, who: string, error: unknown): void => note(run.trouble, who, error);

/** The part of a config that concerns requests. */
function requestOptions(config: AgentLoopConfig, signal: AbortSignal): SimpleStreamOptions {
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
    beforeToolCall: _before,
    afterToolCall: _after,
    reasoning: _reasoning,
    apiKey: _apiKey,
    ...options
  } = config;
  return { ...options, signal };
}

/** A context whose lists may be changed. */
export function copyContext(context: AgentContext, more: readonly AgentMessage[] = []): WorkingContext {
  const messages = [...context.messages, ...more];
  const tools = [...(context.tools ?? [])];
  return { systemPrompt: context.systemPrompt, messages, tools, plainCount: 0 };
}

/** Whether no message is the application's own. */
export function isPlain(context: WorkingContext): boolean {
  const { messages } = context;
  if (context.plainCount > messages.length) context.plainCount = 0;
  while (context.plainCount < messages.length && isLlmMessage(messages[context.plainCount]!)) context.plainCount++;
  return context.plainCount === messages.length;
}

/**
 * Calls a hook. The wall around other people's code: what it throws is the run's trouble, and one that hangs is given
 * up when the run is aborted. Undefined when it gave no value. Waits only for a hook that asks to be waited for, since
 * most do not and every turn calls several.
 */
export function callHook<T>(
  run: Run,
  name: string,
  hook: (() => T | Promise<T>) | undefined,
): T | undefined | Promise<T | undefined> {
  if (!hook || run.trouble.reason !== undefined) return undefined;
  try {
    const given = hook();
    return isThenable(given) ? waitForHook(run, name, given) : given;
  } catch (error) {
    breakRun(run, name, error);
    return undefined;
  }
}

async function waitForHook<T>(run: Run, name: string, given: Promise<T>): Promise<T | undefined> {
  const settled = await run.abort.settle(given);
  if (settled.kind === "done") return settled.value;
  if (settled.kind === "failed" && !isAbort(run, settled.error)) breakRun(run, name, settled.error);
  return undefined;
}

/** Who stops because the run was aborted does what it should. */
const isAbort = ({ abort: { signal } }: Run, error: unknown) =>
  signal.aborted && (error === signal.reason || (error as Error | undefined)?.name === "AbortError");

/** What a hook has to give, and whether something is one. */
export type Kind = readonly [what: string, isOne: (given: unknown) => boolean];

/** Calls a hook that has to give something. Those without types may give anything. */
export function callFor<T>(
  run: Run,
  name: string,
  hook: () => T | Promise<T>,
  kind: Kind,
): T | undefined | Promise<T | undefined> {
  const given = callHook(run, name, hook);
  return isPromise(given) ? given.then((value) => check(run, name, value, kind)) : check(run, name, given, kind);
}

function check<T>(run: Run, name: string, given: T | undefined, [what, isOne]: Kind): T | undefined {
  if (isOne(given)) return given;
  if (!run.abort.isAborted) breakRun(run, name, `it returned no ${what}.`);
  return undefined;
}

export const pollSteering = (run: Run) => pollMessages(run, "getSteeringMessages", run.config.getSteeringMessages);

export const pollFollowUps = (run: Run) => pollMessages(run, "getFollowUpMessages", run.config.getFollowUpMessages);

/** Polls a queue of messages. Nothing is taken from it once the run is ending: it stays for the next one. */
function pollMessages(
  run: Run,
  name: string,
  poll: AgentLoopConfig["getSteeringMessages"],
): AgentMessage[] | Promise<AgentMessage[]> {
  if (!poll || run.abort.isAborted) return [];
  const messages = callHook(run, name, poll);
  return isPromise(messages) ? messages.then(toList) : toList(messages);
}

const toList = (messages: AgentMessage[] | undefined): AgentMessage[] => messages ?? [];

/** Adds a message that is complete from the start to the transcript, and reports it. */
export function addMessage(run: Run, message: AgentMessage): Promise<void> | undefined {
  run.context.messages.push(message);
  run.newMessages.push(message);
  return announce(run, message);
}

/** Reports a message that is complete from the start. */
export function announce(run: Run, message: AgentMessage): Promise<void> | undefined {
  void run.events.emit({ type: "message_start", message });
  return run.events.emit({ type: "message_end", message });
}

/** An answer in which nothing has been said yet. */
export const emptyAnswer = ({ api, provider, id }: Model, timestamp: number) =>
  ({
    role: "assistant",
    content: [],
    api,
    provider,
    model: id,
    usage: emptyUsage(),
    timestamp,
  }) satisfies Partial<AssistantMessage>;

/** An answer that says why there is none. */
export function failedMessage(run: Run, partial?: AssistantMessage): AssistantMessage {
  const { model } = run.current;
  const { reason } = run.trouble;
  const errorMessage = reason === undefined ? "The run was aborted." : run.trouble.errorMessage;
  const base = partial ?? emptyAnswer(model, run.clock.now());
  return reason === undefined
    ? { ...base, stopReason: "aborted", errorMessage, failure: { kind: "aborted", message: errorMessage } }
    : { ...base, stopReason: "error", errorMessage, failure: { kind: "unknown", message: reason } };
}
