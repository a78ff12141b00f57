/** The tool calls of one answer. Each gets exactly one outcome, whatever its tool, its guard or an abort does. */
import {
  type AssistantMessage,
  type ImageContent,
  type TextContent,
  type ToolResultMessage,
  validateToolArguments,
} from "@tau/ai";
import { didYouMean, getErrorMessage } from "@tau/ai/internal";
import { type CallOrder, getCallOrder, toStages } from "./call-order.ts";
import { addMessage, pollMessages, type Run } from "./run.ts";
import type { AgentMessage, AgentTool, AgentToolCall, AgentToolResult, AgentToolUpdate } from "./types.ts";

export interface BatchOutcome {
  results: ToolResultMessage[];
  /** The model should see the results: there are some, and not all of them asked to end the run. */
  wantsMore: boolean;
  /** Steering that came in the middle of a sequential batch. */
  steering: AgentMessage[];
}

/** The outcome of one call. */
interface Outcome {
  call: AgentToolCall;
  result: AgentToolResult;
  isError: boolean;
  /** Only of an error. */
  errorCode?: string;
}

/** Why a call gets an error without its tool. */
interface Refusal {
  code: string;
  text: string;
  /** As that of a result. */
  terminate?: boolean;
}

interface Ready {
  kind: "ready";
  call: AgentToolCall;
  tool: AgentTool;
  args: AgentToolCall["arguments"];
}

/** A call that may be executed, or one whose outcome is known without that. */
type Prepared = Ready | { kind: "decided"; outcome: Outcome };

const skipped: Refusal = { code: "skipped", text: "Skipped due to queued user message." };
const aborted: Refusal = { code: "aborted", text: "The call was aborted." };

export function executeToolCalls(run: Run, message: AssistantMessage, calls: AgentToolCall[]): Promise<BatchOutcome> {
  const mode = run.config.toolExecution ?? "parallel";
  const tools = calls.map(({ name }) => findTool(run, name));
  if (calls.length <= 1 || mode === "sequential" || tools.some((tool) => tool?.executionMode === "sequential")) {
    return executeInSequence(run, message, calls);
  }
  const orders = tools.map((tool) => getCallOrder(tool, mode));
  return executeInStages(run, message, calls, orders);
}

/** If two tools have the same name, the first is used. */
const findTool = (run: Run, name: string) => run.context.tools.find((tool) => tool.name === name);

/** Answers calls that must not be executed, all with the same text. */
export async function refuseToolCalls(run: Run, calls: AgentToolCall[], refusal: Refusal): Promise<BatchOutcome> {
  const results: ToolResultMessage[] = [];
  for (const call of calls) results.push(await addResult(run, await refuseCall(run, call, refusal)));
  return { results, wantsMore: calls.length > 0, steering: [] };
}

async function executeInSequence(run: Run, message: AssistantMessage, calls: AgentToolCall[]): Promise<BatchOutcome> {
  const outcomes: Outcome[] = [];
  const results: ToolResultMessage[] = [];
  let steering: AgentMessage[] = [];
  for (const call of calls) {
    // Not polled after the last call: the end of the turn does that.
    if (outcomes.length > 0 && steering.length === 0) steering = await pollMessages(run, "getSteeringMessages");
    const outcome =
      steering.length > 0
        ? await refuseCall(run, call, skipped)
        : await finishCall(run, message, await beginCall(run, message, call));
    outcomes.push(outcome);
    results.push(await addResult(run, outcome));
  }
  return { results, wantsMore: outcomes.some(wantsMore), steering };
}

async function executeInStages(
  run: Run,
  message: AssistantMessage,
  calls: AgentToolCall[],
  orders: readonly CallOrder[],
): Promise<BatchOutcome> {
  const outcomes: Outcome[] = [];
  const results: ToolResultMessage[] = [];
  /** In the order of the calls, so up to the first call that has not ended. */
  const addResults = async () => {
    for (let outcome; (outcome = outcomes[results.length]);) results.push(await addResult(run, outcome));
  };
  const executing: Promise<Outcome>[] = [];
  for (const stage of toStages(orders)) {
    // The stage may take long, and a process that is killed in it should not lose what is known.
    await addResults();
    // Guards are called one after the other, so that a person is asked in order; then the tools run together.
    const prepared = new Map<number, Prepared>();
    for (const index of stage) prepared.set(index, await beginCall(run, message, calls[index]!));
    for (const [index, call] of prepared) {
      executing[index] = finishCall(run, message, call).then((outcome) => (outcomes[index] = outcome));
    }
    await Promise.all(stage.filter((index) => orders[index] !== "unordered").map((index) => executing[index]));
  }
  await Promise.all(executing);
  await addResults();
  return { results, wantsMore: outcomes.some(wantsMore), steering: [] };
}

const wantsMore = ({ result }: Outcome) => result.terminate !== true;

/** Reports that a call starts, and prepares it. */
async function beginCall(run: Run, message: AssistantMessage, call: AgentToolCall): Promise<Prepared> {
  await reportStart(run, call);
  const prepared = await prepare(run, message, call);
  // A call that is not executed ends before the next one starts.
  if (prepared.kind === "decided") await reportEnd(run, prepared.outcome);
  return prepared;
}

/** Executes a prepared call and reports its end. */
async function finishCall(run: Run, message: AssistantMessage, prepared: Prepared): Promise<Outcome> {
  if (prepared.kind === "decided") return prepared.outcome;
  // The run may have been aborted while the guard of another call was deciding.
  const outcome = run.abort.isAborted
    ? createFailure(prepared.call, aborted)
    : await review(run, message, prepared, await execute(run, prepared));
  await reportEnd(run, outcome);
  return outcome;
}

/** Answers a call without executing it. */
async function refuseCall(run: Run, call: AgentToolCall, refusal: Refusal): Promise<Outcome> {
  await reportStart(run, call);
  const outcome = createFailure(call, refusal);
  await reportEnd(run, outcome);
  return outcome;
}

const createFailure = (call: AgentToolCall, { code, text, terminate = false }: Refusal): Outcome => ({
  call,
  result: { content: [{ type: "text", text }], details: {}, ...(terminate && { terminate }) },
  isError: true,
  errorCode: code,
});

/** What a tool or a hook has thrown. Errors of others may have a number or nothing as their code. */
function toRefusal(run: Run, error: unknown): Refusal {
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code;
  const own = typeof code === "string" && code !== "" ? code : undefined;
  return { code: own ?? (run.abort.isAborted ? aborted.code : "tool_failed"), text: getErrorMessage(error) };
}

/** For the model. It may call a tool of an earlier request, or one of another agent. */
function formatUnknownTool(run: Run, name: string): string {
  const names = run.context.tools.map((tool) => tool.name);
  const known = names.length === 0 ? "There are no tools." : `The tools are: ${names.join(", ")}.`;
  return `Tool ${name} not found.${didYouMean(name, names)} ${known}`;
}

/** Finds the tool, checks the arguments and asks the guard. A guard that throws denies the call. */
async function prepare(run: Run, assistantMessage: AssistantMessage, call: AgentToolCall): Promise<Prepared> {
  const refuse = (refusal: Refusal): Prepared => ({ kind: "decided", outcome: createFailure(call, refusal) });
  if (run.abort.isAborted) return refuse(aborted);
  if (run.failure) {
    const text = `The call was not executed. ${run.failure.failure.message}`;
    return refuse({ code: "not_executed", text });
  }
  const tool = findTool(run, call.name);
  if (!tool) return refuse({ code: "unknown_tool", text: formatUnknownTool(run, call.name) });
  let args: AgentToolCall["arguments"];
  try {
    const prepared = tool.prepareArguments ? tool.prepareArguments(call.arguments) : call.arguments;
    args = validateToolArguments(tool, { ...call, arguments: prepared });
  } catch (error) {
    return refuse({ code: "invalid_arguments", text: getErrorMessage(error) });
  }
  const { beforeToolCall } = run.config;
  if (beforeToolCall) {
    const question = { assistantMessage, toolCall: call, args, context: run.context };
    const verdict = await run.abort.settle(() => beforeToolCall(question, run.abort.signal));
    // A guard that stops because of the abort has not judged the call.
    const code = run.abort.isAborted ? aborted.code : "denied";
    if (verdict.kind === "failed") return refuse({ code, text: getErrorMessage(verdict.error) });
    if (verdict.kind === "done" && verdict.value?.block) {
      const { reason, terminate = false } = verdict.value;
      return refuse({ code, text: reason || "Tool execution was blocked", terminate });
    }
    if (run.abort.isAborted) return refuse(aborted);
  }
  return { kind: "ready", call, tool, args };
}

async function execute(run: Run, { call, tool, args }: Ready): Promise<Outcome> {
  let isSettled = false;
  const onUpdate = (partialResult: AgentToolUpdate) => {
    if (isSettled || getContentError(partialResult) !== undefined) return;
    const { id: toolCallId, name: toolName } = call;
    void run.events.emit({ type: "tool_execution_update", toolCallId, toolName, args: call.arguments, partialResult });
  };
  const settled = await run.abort.settle(() => tool.execute(call.id, args, run.abort.signal, onUpdate));
  isSettled = true;
  if (settled.kind === "abandoned") return createFailure(call, aborted);
  if (settled.kind === "failed") return createFailure(call, toRefusal(run, settled.error));
  const isError = settled.value?.isError === true;
  return checkOutcome(`The tool ${tool.name}`, { call, result: settled.value, isError });
}

/** Lets `afterToolCall` replace parts of an outcome. If it throws, the outcome is an error. */
async function review(
  run: Run,
  assistantMessage: AssistantMessage,
  { call, args }: Ready,
  outcome: Outcome,
): Promise<Outcome> {
  const { afterToolCall } = run.config;
  if (!afterToolCall) return outcome;
  const { result, isError } = outcome;
  const question = { assistantMessage, toolCall: call, args, result, isError, context: run.context };
  const settled = await run.abort.settle(() => afterToolCall(question, run.abort.signal));
  if (settled.kind === "failed") return createFailure(call, toRefusal(run, settled.error));
  if (settled.kind === "abandoned" || !settled.value) return outcome;
  const changes = settled.value;
  const terminate = changes.terminate ?? result.terminate;
  const changed: AgentToolResult = {
    content: changes.content ?? result.content,
    details: changes.details ?? result.details,
    ...(terminate !== undefined && { terminate }),
  };
  return checkOutcome("afterToolCall", { ...outcome, result: changed, isError: changes.isError ?? isError });
}

/** Code without types may return anything; a result without content would make every later request invalid. */
function checkOutcome(source: string, outcome: Outcome): Outcome {
  const error = getContentError(outcome.result);
  if (error === undefined) return outcome;
  return createFailure(outcome.call, { code: "tool_failed", text: `${source} returned ${error}.` });
}

function getContentError(result: AgentToolResult | undefined): string | undefined {
  if (!Array.isArray(result?.content)) return "no content";
  return result.content.every(isTextOrImage) ? undefined : "content that is neither text nor an image";
}

function isTextOrImage(block: TextContent | ImageContent | null | undefined): boolean {
  if (block?.type === "text") return typeof block.text === "string";
  return block?.type === "image" && typeof block.data === "string";
}

const reportStart = (run: Run, call: AgentToolCall) =>
  run.events.emit({ type: "tool_execution_start", toolCallId: call.id, toolName: call.name, args: call.arguments });

const reportEnd = (run: Run, { call, result, isError, errorCode = "tool_failed" }: Outcome) =>
  run.events.emit({
    type: "tool_execution_end",
    toolCallId: call.id,
    toolName: call.name,
    result,
    isError,
    ...(isError && { errorCode }),
  });

async function addResult(run: Run, { call, result, isError }: Outcome): Promise<ToolResultMessage> {
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: result.content,
    details: result.details,
    isError,
    timestamp: run.clock.now(),
  };
  await addMessage(run, message);
  return message;
}
