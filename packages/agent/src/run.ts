import { type AssistantMessage, type Clock, emptyUsage, messageOf, type Model, systemClock } from "@tau/ai";
import { Abort } from "./abort.ts";
import { isLlmMessage } from "./convert.ts";
import { EventOrder } from "./event-order.ts";
import type {
  AgentContext,
  AgentEvent,
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
  /** What may change between turns. */
  readonly current: { model: Model; reasoning: ThinkingLevel };
  /** Why the run cannot go on, if a hook or a listener broke. The first reason counts. */
  readonly trouble: { reason: string | undefined };
  /** Delivers an event; see `EventOrder.emit`. */
  readonly emit: (event: AgentEvent) => Promise<void> | undefined;
}

export interface WorkingContext extends AgentContext {
  tools: AgentTool[];
  /** No message is the application's own. Known, so that a long transcript need not be searched at every turn. */
  isPlain: boolean;
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
  const trouble: Run["trouble"] = { reason: undefined };
  const order = new EventOrder(sink, (reason) => {
    trouble.reason ??= reason;
    abort.now(reason);
  });
  return {
    config,
    streamFn,
    clock,
    abort,
    context: copyContext(context, prompts),
    newMessages: [...prompts],
    current: { model: config.model, reasoning: config.reasoning ?? "off" },
    trouble,
    emit: (event) => order.emit(event),
  };
}

/** A context whose lists may be changed. */
export function copyContext(context: AgentContext, more: readonly AgentMessage[] = []): WorkingContext {
  const messages = [...context.messages, ...more];
  const tools = [...(context.tools ?? [])];
  return { systemPrompt: context.systemPrompt, messages, tools, isPlain: messages.every(isLlmMessage) };
}

/**
 * Calls a hook. The wall around other people's code: what it throws is the run's trouble, and one that hangs is given
 * up when the run is aborted. Undefined when it gave no value.
 */
export async function callHook<T>(
  run: Run,
  name: string,
  hook: (() => T | Promise<T>) | undefined,
): Promise<T | undefined> {
  if (!hook || run.trouble.reason !== undefined) return undefined;
  try {
    const settled = await run.abort.settle(hook());
    if (settled.kind === "done") return settled.value;
    if (settled.kind === "failed") throw settled.error;
  } catch (error) {
    run.trouble.reason ??= `${name} failed: ${messageOf(error)}`;
  }
  return undefined;
}

/** Polls a queue of messages. Nothing is taken from it once the run is ending: it stays for the next one. */
export async function pollMessages(
  run: Run,
  name: "getSteeringMessages" | "getFollowUpMessages",
): Promise<AgentMessage[]> {
  const { [name]: poll } = run.config;
  if (!poll || run.abort.signal.aborted) return [];
  return (await callHook(run, name, poll)) ?? [];
}

/** An answer that says why there is none. */
export function failedMessage(run: Run, partial?: AssistantMessage): AssistantMessage {
  const { model } = run.current;
  const { reason } = run.trouble;
  const errorMessage = reason ?? "The run was aborted.";
  const base = partial ?? {
    role: "assistant",
    content: [],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: emptyUsage(),
    timestamp: run.clock.now(),
  };
  return reason === undefined
    ? { ...base, stopReason: "aborted", errorMessage, failure: { kind: "aborted", message: errorMessage } }
    : { ...base, stopReason: "error", errorMessage, failure: { kind: "unknown", message: errorMessage } };
}
