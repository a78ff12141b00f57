/** pi's loops. They execute all calls of an answer before they look for steering messages. */
import {
  type AgentContext,
  type AgentEvent,
  type AgentEventSink,
  type AgentLoopConfig,
  type AgentMessage,
  runAgentLoop as runTauLoop,
  runAgentLoopContinue as continueTauLoop,
  type StreamFn,
} from "@tau/agent";
import { EventStream } from "@tau/ai";
import { getDefaultStreamFn } from "./default-stream.ts";

type Stream = EventStream<AgentEvent, AgentMessage[]>;

export function agentLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Stream {
  return toStream((emit) => runAgentLoop(prompts, context, config, emit, signal, streamFn));
}

export function agentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Stream {
  const last = context.messages.at(-1) as { role: string } | undefined;
  if (!last) throw new Error("Cannot continue: no messages in context");
  if (last.role === "assistant") throw new Error("Cannot continue from message role: assistant");
  return toStream((emit) => runAgentLoopContinue(context, config, emit, signal, streamFn));
}

export function runAgentLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  emit: AgentEventSink,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Promise<AgentMessage[]> {
  const calls = countCalls(config, emit);
  return runTauLoop(prompts, context, calls.config, calls.emit, signal, streamFn ?? getDefaultStreamFn());
}

export function runAgentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: AgentEventSink,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Promise<AgentMessage[]> {
  const calls = countCalls(config, emit);
  return continueTauLoop(context, calls.config, calls.emit, signal, streamFn ?? getDefaultStreamFn());
}

/** Answers no poll for steering messages while calls of an answer are left. */
function countCalls(config: AgentLoopConfig, emit: AgentEventSink): { config: AgentLoopConfig; emit: AgentEventSink } {
  const poll = config.getSteeringMessages;
  if (!poll) return { config, emit };
  let left = 0;
  return {
    config: { ...config, getSteeringMessages: () => (left > 0 ? [] : poll()) },
    emit(event) {
      if (event.type === "message_end") {
        if (event.message.role === "assistant") {
          left = event.message.content.filter(({ type }) => type === "toolCall").length;
        } else if (event.message.role === "toolResult") left--;
      } else if (event.type === "turn_end") left = 0;
      return emit(event);
    },
  };
}

function toStream(start: (emit: AgentEventSink) => Promise<AgentMessage[]>): Stream {
  const stream: Stream = new EventStream(
    (event) => event.type === "agent_end",
    (event) => (event.type === "agent_end" ? event.messages : []),
  );
  start((event) => stream.push(event)).catch((error: unknown) => stream.fail(error));
  return stream;
}
