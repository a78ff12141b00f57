/** The agent loop: turns of model answers and tool calls. It keeps no state between runs. */
import { type AssistantMessage, EventStream, streamSimple } from "@tau/ai";
import { AgentError } from "./errors.ts";
import { respond } from "./respond.ts";
import {
  addMessage,
  callHook,
  copyContext,
  createRun,
  failedMessage,
  pollMessages,
  reportMessage,
  type Run,
  type RunParts,
} from "./run.ts";
import { toThinkingLevel } from "./thinking-level.ts";
import { type BatchOutcome, executeToolCalls, refuseToolCalls } from "./tool-calls.ts";
import type {
  AgentContext,
  AgentEvent,
  AgentEventSink,
  AgentLoopConfig,
  AgentLoopTurnUpdate,
  AgentMessage,
  AgentToolCall,
  StreamFn,
  TurnContext,
} from "./types.ts";
import { yieldToEventLoop } from "./yield-to-event-loop.ts";

/** Starts a run with new messages and returns its events as a stream. The stream always ends in `agent_end`. */
export function agentLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): EventStream<AgentEvent, AgentMessage[]> {
  return toEventStream((emit) => runAgentLoop(prompts, context, config, emit, signal, streamFn));
}

/** Continues from a context whose last message is a user's or a tool result. Throws an `AgentError` if it is not. */
export function agentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): EventStream<AgentEvent, AgentMessage[]> {
  checkContinuable(context);
  return toEventStream((emit) => runAgentLoopContinue(context, config, emit, signal, streamFn));
}

/**
 * Runs until the agent is idle and returns the messages it added, prompts included. Never rejects: a failure becomes an
 * assistant message with `stopReason` `error` or `aborted`.
 */
export function runAgentLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  emit: AgentEventSink,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Promise<AgentMessage[]> {
  return startRun({ context, prompts, config, sink: emit, signal, streamFn: streamFn ?? streamSimple });
}

/** Continues as `runAgentLoop` does, without new messages. Rejects with an `AgentError` if there is nothing to continue from. */
export async function runAgentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: AgentEventSink,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Promise<AgentMessage[]> {
  checkContinuable(context);
  return await startRun({ context, prompts: [], config, sink: emit, signal, streamFn: streamFn ?? streamSimple });
}

/**
 * Makes the calls of the last answer that have no result, because they were postponed, and continues as `runAgentLoopContinue`
 * does. Rejects with an `AgentError` if there are none.
 */
export async function resumeAgentLoop(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: AgentEventSink,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Promise<AgentMessage[]> {
  const open = findOpenCalls(context.messages);
  if (!open) throw new AgentError("nothing_to_continue", "Cannot resume: every call of the last answer has a result");
  return await startRun({ context, prompts: [], config, sink: emit, signal, streamFn: streamFn ?? streamSimple }, open);
}

/** The calls of an answer that have no result. */
interface OpenCalls {
  message: AssistantMessage;
  calls: AgentToolCall[];
}

function findOpenCalls(messages: readonly AgentMessage[]): OpenCalls | undefined {
  const index = messages.findLastIndex(({ role }) => role === "assistant");
  const message = messages[index];
  if (message?.role !== "assistant" || isFailed(message)) return undefined;
  const answered = new Set<string>();
  for (const later of messages.slice(index + 1)) if (later.role === "toolResult") answered.add(later.toolCallId);
  const calls = message.content.filter((block) => block.type === "toolCall").filter(({ id }) => !answered.has(id));
  return calls.length > 0 ? { message, calls } : undefined;
}

function checkContinuable({ messages }: AgentContext): void {
  const last = messages.at(-1) as { role: string } | undefined;
  if (!last) throw new AgentError("nothing_to_continue", "Cannot continue: no messages in context");
  if (last.role === "assistant") {
    throw new AgentError("nothing_to_continue", "Cannot continue from message role: assistant");
  }
}

function toEventStream(
  start: (emit: AgentEventSink) => Promise<AgentMessage[]>,
): EventStream<AgentEvent, AgentMessage[]> {
  const stream = new EventStream<AgentEvent, AgentMessage[]>(
    (event) => event.type === "agent_end",
    (event) => (event.type === "agent_end" ? event.messages : []),
  );
  start((event) => stream.push(event)).catch((error: unknown) => stream.fail(error));
  return stream;
}

/** `open` are calls to begin with. */
async function startRun(parts: RunParts, open?: OpenCalls): Promise<AgentMessage[]> {
  const run = createRun(parts);
  try {
    await run.events.emit({ type: "agent_start" });
    await run.events.emit({ type: "turn_start" });
    for (const prompt of parts.prompts) await reportMessage(run, prompt);
    await takeTurns(run, open);
    await run.events.emit({ type: "agent_end", messages: run.newMessages });
    return run.newMessages;
  } finally {
    run.abort.close();
  }
}

/** How many answers in a row may reach the output token limit in the middle of their calls. */
const maxTruncatedAnswers = 3;

const truncated = {
  code: "truncated",
  text: "The call was not executed: the answer reached its output token limit, so its arguments may be incomplete. Send it again, in smaller parts if need be.",
};

/** Takes turns until nothing is left to do. The first turn has been reported already. */
async function takeTurns(run: Run, open: OpenCalls | undefined): Promise<void> {
  // A message must not come between a call and its result.
  let pending = open ? [] : await pollMessages(run, "getSteeringMessages");
  let resumed = open;
  let truncatedAnswers = 0;
  for (;;) {
    await yieldToEventLoop();
    for (const queued of pending) await addMessage(run, queued);
    const message = resumed?.message ?? (await respond(run));
    const batch = await (resumed ? executeToolCalls(run, message, resumed.calls) : answerCalls(run, message));
    resumed = undefined;
    const { results: toolResults, wantsMore, steering } = batch;
    await run.events.emit({ type: "turn_end", message, toolResults });
    if (batch.isPostponed && !run.failure) return;
    truncatedAnswers = toolResults.length > 0 && isTruncated(message) ? truncatedAnswers + 1 : 0;
    if (isFailed(message) || truncatedAnswers > maxTruncatedAnswers) return;
    const turn: TurnContext = { message, toolResults, context: run.context, newMessages: run.newMessages };
    const { shouldStopAfterTurn: shouldStop, prepareNextTurn } = run.config;
    if (shouldStop && (await callHook(run, "shouldStopAfterTurn", () => shouldStop(turn)))) {
      // Steering that was taken from its queue must not be lost, even though the model does not answer it in this run.
      for (const queued of steering) await addMessage(run, queued);
      return run.failure && (await endWithFailure(run, []));
    }
    pending = steering.length > 0 ? steering : await pollMessages(run, "getSteeringMessages");
    if (!wantsMore && pending.length === 0) pending = await pollMessages(run, "getFollowUpMessages");
    if (run.failure) return await endWithFailure(run, pending);
    if (!wantsMore && pending.length === 0) return;
    if (prepareNextTurn) applyUpdate(run, await callHook(run, "prepareNextTurn", () => prepareNextTurn(turn)));
    await run.events.emit({ type: "turn_start" });
  }
}

/** Ends a run whose hook failed between two turns with a turn that reports the failure. */
async function endWithFailure(run: Run, pending: readonly AgentMessage[]): Promise<void> {
  await run.events.emit({ type: "turn_start" });
  const message = failedMessage(run);
  for (const added of [...pending, message]) await addMessage(run, added);
  await run.events.emit({ type: "turn_end", message, toolResults: [] });
}

/** Executes the calls of an answer. Calls of a truncated answer are refused: their arguments may be incomplete. */
function answerCalls(run: Run, message: AssistantMessage): Promise<BatchOutcome> {
  const calls = isFailed(message) ? [] : message.content.filter((block) => block.type === "toolCall");
  return isTruncated(message) ? refuseToolCalls(run, message, calls, truncated) : executeToolCalls(run, message, calls);
}

const isFailed = ({ stopReason }: AssistantMessage) => stopReason === "error" || stopReason === "aborted";

const isTruncated = ({ stopReason }: AssistantMessage) => stopReason === "length";

function applyUpdate(run: Run, update: AgentLoopTurnUpdate | undefined): void {
  if (update?.model) run.current.model = update.model;
  if (update?.thinkingLevel) run.current.reasoning = toThinkingLevel(update.thinkingLevel);
  if (update?.context) Object.assign(run.context, copyContext(update.context));
}
