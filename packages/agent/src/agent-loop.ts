/** The engine: a function of prompts, context, config, sink and signal. It holds no state of its own. */
import { type AssistantMessage, EventStream, streamSimple } from "@tau/ai";
import { isPromise } from "./abort.ts";
import { breathe } from "./breathe.ts";
import { AgentError } from "./errors.ts";
import { respond } from "./respond.ts";
import {
  addMessage,
  announce,
  callHook,
  copyContext,
  createRun,
  failedMessage,
  pollFollowUps,
  pollSteering,
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
  StreamFn,
  TurnContext,
} from "./types.ts";

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

/** Goes on from a context whose last message is the user's or a tool's result. Throws when it is not. */
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
 * Runs until the agent is idle and returns what it added, prompts included. Never rejects: what goes wrong is an
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
  return run({ context, prompts, config, sink: emit, signal, streamFn: streamFn ?? streamSimple });
}

/** The same, without new messages. Rejects with an `AgentError` when there is nothing to go on from. */
export async function runAgentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: AgentEventSink,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Promise<AgentMessage[]> {
  checkContinuable(context);
  return await run({ context, prompts: [], config, sink: emit, signal, streamFn: streamFn ?? streamSimple });
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

async function run(parts: RunParts): Promise<AgentMessage[]> {
  const started = createRun(parts);
  try {
    await started.events.emit({ type: "agent_start" });
    await started.events.emit({ type: "turn_start" });
    for (const prompt of parts.prompts) await announce(started, prompt);
    await takeTurns(started);
    await started.events.emit({ type: "agent_end", messages: started.newMessages });
    return started.newMessages;
  } finally {
    started.abort.close();
  }
}

async function inject(run: Run, messages: readonly AgentMessage[]): Promise<void> {
  for (const message of messages) await addMessage(run, message);
}

/** How often in a row an answer that was cut off in the middle of its calls may try again. */
const maxCutAnswers = 3;

const cutText =
  "The call was not executed: the answer reached its output token limit, so its arguments may be incomplete. Send it again, in smaller parts if need be.";

/** Turns until nothing is left to do. The first turn has been announced already. */
async function takeTurns(run: Run): Promise<void> {
  await breathe();
  let pending = await pollSteering(run);
  let cutAnswers = 0;
  let last: TurnContext | undefined;
  for (;;) {
    if (last) {
      const prepared = prepareNextTurn(run, last);
      if (isPromise(prepared)) await prepared;
      const taken = run.events.emit({ type: "turn_start" });
      if (taken) await taken;
    }
    if (pending.length > 0) await inject(run, pending);
    const message = await respond(run);
    const answered = answerCalls(run, message);
    const { results: toolResults, wantsMore, steering } = isPromise(answered) ? await answered : answered;
    last = { message, toolResults, context: run.context, newMessages: run.newMessages };
    const taken = run.events.emit({ type: "turn_end", message, toolResults });
    if (taken) await taken;
    cutAnswers = toolResults.length > 0 && isCut(message) ? cutAnswers + 1 : 0;
    if (isFailed(message) || cutAnswers > maxCutAnswers) return;
    const { shouldStopAfterTurn } = run.config;
    const finished = last;
    if (shouldStopAfterTurn && (await callHook(run, "shouldStopAfterTurn", () => shouldStopAfterTurn(finished)))) {
      // What was taken from the queue is said, though nobody answers it now.
      return await inject(run, steering);
    }
    const polled = steering.length > 0 ? steering : pollSteering(run);
    pending = isPromise(polled) ? await polled : polled;
    if (!wantsMore && pending.length === 0) pending = await pollFollowUps(run);
    if (run.trouble.reason !== undefined) return await endInTrouble(run, pending);
    if (!wantsMore && pending.length === 0) return;
    const pause = breathe();
    if (pause) await pause;
  }
}

/** A hook broke between two turns: the run ends in a turn that says so. */
async function endInTrouble(run: Run, pending: readonly AgentMessage[]): Promise<void> {
  await run.events.emit({ type: "turn_start" });
  const message = failedMessage(run);
  await inject(run, [...pending, message]);
  await run.events.emit({ type: "turn_end", message, toolResults: [] });
}

/** Executes what the answer calls for. Calls of an answer that was cut off are not executed. */
function answerCalls(run: Run, message: AssistantMessage): BatchOutcome | Promise<BatchOutcome> {
  const calls = isFailed(message) ? [] : message.content.filter((block) => block.type === "toolCall");
  if (calls.length === 0) return { results: [], wantsMore: false, steering: [] };
  return isCut(message) ? refuseToolCalls(run, calls, cutText) : executeToolCalls(run, message, calls);
}

const isFailed = ({ stopReason }: AssistantMessage) => stopReason === "error" || stopReason === "aborted";

const isCut = ({ stopReason }: AssistantMessage) => stopReason === "length";

function prepareNextTurn(run: Run, last: TurnContext): void | Promise<void> {
  const { prepareNextTurn: prepare } = run.config;
  const update = callHook(run, "prepareNextTurn", prepare && (() => prepare(last)));
  return isPromise(update) ? update.then((given) => change(run, given)) : change(run, update);
}

function change(run: Run, update: AgentLoopTurnUpdate | undefined): void {
  if (update?.model) run.current.model = update.model;
  if (update?.thinkingLevel) run.current.reasoning = toThinkingLevel(update.thinkingLevel);
  if (update?.context) Object.assign(run.context, copyContext(update.context));
}
