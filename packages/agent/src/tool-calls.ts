/** The calls of one answer: each gets exactly one outcome, whatever its tool, its guard or an abort does. */
import {
  type AssistantMessage,
  type ImageContent,
  getErrorMessage,
  type TextContent,
  type ToolResultMessage,
  validateToolArguments,
} from "@tau/ai";
import { isPromise, type Settled } from "./abort.ts";
import { addMessage, pollSteering, type Run } from "./run.ts";
import type { AgentMessage, AgentTool, AgentToolCall, AgentToolResult, AgentToolUpdate } from "./types.ts";

export interface BatchOutcome {
  results: ToolResultMessage[];
  /** The model should see the results: there are some, and not every one of them asked for the end of the run. */
  wantsMore: boolean;
  /** Steering that came in the middle of a sequential batch. */
  steering: AgentMessage[];
}

/** What a call came to. */
interface Outcome {
  call: AgentToolCall;
  result: AgentToolResult;
  isError: boolean;
}

interface Ready {
  kind: "ready";
  call: AgentToolCall;
  tool: AgentTool;
  args: AgentToolCall["arguments"];
  /** The tool has settled or was left behind: what it says after that is not heard. */
  isSettled: boolean;
}

/** A call that may be executed, or whose outcome is known without that. */
type Prepared = Ready | { kind: "decided"; outcome: Outcome };

export const skippedText = "Skipped due to queued user message.";
export const abortedText = "The call was aborted.";

export function executeToolCalls(run: Run, message: AssistantMessage, calls: AgentToolCall[]): Promise<BatchOutcome> {
  const isSequential =
    calls.length === 1 ||
    run.config.toolExecution === "sequential" ||
    calls.some(({ name }) => toolNamed(run, name)?.executionMode === "sequential");
  return isSequential ? executeInSequence(run, message, calls) : executeInParallel(run, message, calls);
}

/** Of two tools with one name the first counts. */
const toolNamed = (run: Run, name: string) => run.context.tools.find((tool) => tool.name === name);

/** Answers calls that must not be executed, each with the same text. */
export async function refuseToolCalls(run: Run, calls: AgentToolCall[], text: string): Promise<BatchOutcome> {
  const results: ToolResultMessage[] = [];
  for (const call of calls) results.push(await deliverResult(run, await refuse(run, call, text)));
  return { results, wantsMore: true, steering: [] };
}

async function executeInSequence(run: Run, message: AssistantMessage, calls: AgentToolCall[]): Promise<BatchOutcome> {
  const results: ToolResultMessage[] = [];
  let wantsMore = false;
  let steering: AgentMessage[] = [];
  for (const call of calls) {
    // What was said after the last call is taken where the turn ends.
    if (results.length > 0 && steering.length === 0) steering = await pollSteering(run);
    let outcome: Outcome;
    if (steering.length > 0) outcome = await refuse(run, call, skippedText);
    else {
      const begun = beginCall(run, message, call);
      outcome = await finishCall(run, message, isPromise(begun) ? await begun : begun);
    }
    wantsMore ||= outcome.result.terminate !== true;
    const result = deliverResult(run, outcome);
    results.push(isPromise(result) ? await result : result);
  }
  return { results, wantsMore, steering };
}

async function executeInParallel(run: Run, message: AssistantMessage, calls: AgentToolCall[]): Promise<BatchOutcome> {
  // Guards decide one after the other, so that what they ask a person comes in order; the tools then run together.
  const prepared: Prepared[] = [];
  for (const call of calls) prepared.push(await beginCall(run, message, call));
  const outcomes = await Promise.all(prepared.map((one) => finishCall(run, message, one)));
  const results: ToolResultMessage[] = [];
  for (const outcome of outcomes) results.push(await deliverResult(run, outcome));
  return { results, wantsMore: outcomes.some(({ result }) => result.terminate !== true), steering: [] };
}

/** Announces a call and prepares it, at once where nobody has to be waited for. */
function beginCall(run: Run, message: AssistantMessage, call: AgentToolCall): Prepared | Promise<Prepared> {
  const taken = reportStart(run, call);
  const prepared = taken ? taken.then(() => prepare(run, message, call)) : prepare(run, message, call);
  return isPromise(prepared) ? prepared.then((known) => closeDecided(run, known)) : closeDecided(run, prepared);
}

/** A call that is not executed ends before the next begins. */
function closeDecided(run: Run, prepared: Prepared): Prepared | Promise<Prepared> {
  if (prepared.kind === "ready") return prepared;
  const taken = reportEnd(run, prepared.outcome);
  return taken ? taken.then(() => prepared) : prepared;
}

async function finishCall(run: Run, message: AssistantMessage, prepared: Prepared): Promise<Outcome> {
  if (prepared.kind === "decided") return prepared.outcome;
  // The run may have been aborted while another call of the batch was being decided.
  const isLate = run.abort.isAborted;
  const executed = isLate ? failure(prepared.call, abortedText) : getOutcome(prepared, await execute(run, prepared));
  const isReviewed = run.config.afterToolCall && !isLate;
  const outcome = isReviewed ? await review(run, message, prepared, executed) : executed;
  const taken = reportEnd(run, outcome);
  if (taken) await taken;
  return outcome;
}

/** A call that is answered without being looked at. */
async function refuse(run: Run, call: AgentToolCall, text: string): Promise<Outcome> {
  await reportStart(run, call);
  const outcome = failure(call, text);
  await reportEnd(run, outcome);
  return outcome;
}

const failure = (call: AgentToolCall, text: string): Outcome => ({
  call,
  result: { content: [{ type: "text", text }], details: {} },
  isError: true,
});

const decided = (call: AgentToolCall, text: string): Prepared => ({ kind: "decided", outcome: failure(call, text) });

/** Finds the tool, checks the arguments and asks the guard. */
function prepare(run: Run, message: AssistantMessage, call: AgentToolCall): Prepared | Promise<Prepared> {
  if (run.abort.isAborted) return decided(call, abortedText);
  if (run.trouble.reason !== undefined) return decided(call, `The call was not executed. ${run.trouble.reason}`);
  const tool = toolNamed(run, call.name);
  if (!tool) return decided(call, `Tool ${call.name} not found`);
  try {
    const given = tool.prepareArguments ? tool.prepareArguments(call.arguments) : call.arguments;
    const args = validateToolArguments(tool, given === call.arguments ? call : { ...call, arguments: given });
    const ready: Ready = { kind: "ready", call, tool, args, isSettled: false };
    return run.config.beforeToolCall ? askGuard(run, message, ready) : ready;
  } catch (error) {
    return decided(call, getErrorMessage(error));
  }
}

/** A guard that throws denies. */
async function askGuard(run: Run, assistantMessage: AssistantMessage, ready: Ready): Promise<Prepared> {
  const { call, args } = ready;
  try {
    const asked = { assistantMessage, toolCall: call, args, context: run.context };
    const verdict = await run.abort.settle(run.config.beforeToolCall?.(asked, run.abort.signal));
    if (verdict.kind === "abandoned") return decided(call, abortedText);
    if (verdict.kind === "failed") throw verdict.error;
    if (verdict.value?.block) return decided(call, verdict.value.reason || "Tool execution was blocked");
    return run.abort.isAborted ? decided(call, abortedText) : ready;
  } catch (error) {
    return decided(call, getErrorMessage(error));
  }
}

/** Gives the call to its tool. The wall around other people's code. */
function execute(run: Run, ready: Ready): Settled<AgentToolResult> | Promise<Settled<AgentToolResult>> {
  const { call, tool, args } = ready;
  const onUpdate = (partialResult: AgentToolUpdate) => {
    // One without content says nothing.
    if (ready.isSettled || !Array.isArray(partialResult?.content) || !partialResult.content.every(isBlock)) return;
    const { id: toolCallId, name: toolName, arguments: asked } = call;
    void run.events.emit({ type: "tool_execution_update", toolCallId, toolName, args: asked, partialResult });
  };
  try {
    return run.abort.settle(tool.execute(call.id, args, run.abort.signal, onUpdate));
  } catch (error) {
    return { kind: "failed", error };
  }
}

function getOutcome(ready: Ready, settled: Settled<AgentToolResult>): Outcome {
  const { call, tool } = ready;
  ready.isSettled = true;
  try {
    if (settled.kind === "failed") throw settled.error;
    if (settled.kind === "abandoned") return failure(call, abortedText);
    return { call, result: checkedResult(`The tool ${tool.name}`, settled.value), isError: false };
  } catch (error) {
    return failure(call, getErrorMessage(error));
  }
}

/** Code without types may return anything; a result without content would make every later request invalid. */
function checkedResult(who: string, result: AgentToolResult): AgentToolResult {
  if (!Array.isArray(result?.content)) throw new TypeError(`${who} returned no content.`);
  if (result.content.every(isBlock)) return result;
  throw new TypeError(`${who} returned content that is neither text nor an image.`);
}

/** Asked of what code without types gave. */
function isBlock(given: TextContent | ImageContent | null | undefined): boolean {
  if (given?.type === "text") return typeof given.text === "string";
  return given?.type === "image" && typeof given.data === "string";
}

/** Lets `afterToolCall` replace parts of the outcome. One that throws makes it an error. */
async function review(
  run: Run,
  assistantMessage: AssistantMessage,
  { call, args }: Ready,
  outcome: Outcome,
): Promise<Outcome> {
  const { afterToolCall } = run.config;
  if (!afterToolCall) return outcome;
  const { result, isError } = outcome;
  try {
    const about = { assistantMessage, toolCall: call, args, result, isError, context: run.context };
    const settled = await run.abort.settle(afterToolCall(about, run.abort.signal));
    if (settled.kind === "failed") throw settled.error;
    const changes = settled.kind === "done" ? settled.value : undefined;
    if (!changes) return outcome;
    const changed = {
      content: changes.content ?? result.content,
      details: changes.details ?? result.details,
      ...terminating(changes.terminate ?? result.terminate),
    };
    return { call, result: checkedResult("afterToolCall", changed), isError: changes.isError ?? isError };
  } catch (error) {
    return failure(call, getErrorMessage(error));
  }
}

const terminating = (terminate: boolean | undefined) => (terminate === undefined ? {} : { terminate });

const reportStart = (run: Run, call: AgentToolCall) =>
  run.events.emit({ type: "tool_execution_start", toolCallId: call.id, toolName: call.name, args: call.arguments });

function reportEnd(run: Run, { call, result, isError }: Outcome): Promise<void> | undefined {
  return run.events.emit({ type: "tool_execution_end", toolCallId: call.id, toolName: call.name, result, isError });
}

function deliverResult(run: Run, { call, result, isError }: Outcome): ToolResultMessage | Promise<ToolResultMessage> {
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: result.content,
    details: result.details,
    isError,
    timestamp: run.clock.now(),
  };
  const taken = addMessage(run, message);
  return taken ? taken.then(() => message) : message;
}
