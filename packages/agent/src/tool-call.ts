/** Carries out one tool call, from its start event to its end event. Every call takes this path, whoever makes it. */
import {
  type AssistantMessage,
  emptyUsage,
  type ImageContent,
  type TextContent,
  type Usage,
  validateToolArguments,
} from "@tau/ai";
import { addUsage, didYouMean, followSignal, getErrorMessage, unwrapToolCall } from "@tau/ai/internal";
import { Abort, type Settled } from "./abort.ts";
import type { Run, WorkingContext } from "./run.ts";
import type {
  AgentEvent,
  AgentTool,
  AgentToolCall,
  AgentToolResult,
  AgentToolUpdate,
  AgentToolUpdateCallback,
  NestedCallOptions,
  RunningToolCall,
  ToolCallOutcome,
} from "./types.ts";

/** The maker of calls: an answer of the model, or a tool that is being executed. */
export interface Caller {
  readonly run: Run;
  /** The answer, also for a call of a tool that it called. */
  readonly assistantMessage: AssistantMessage;
  readonly context: WorkingContext;
  readonly abort: Abort;
  /** Resolves when listeners have handled the event. */
  readonly emit: (event: AgentEvent) => Promise<void>;
  /** The call that the tool is executed for. */
  readonly parentToolCallId?: string;
  /** How many calls are around those that it makes. */
  readonly depth: number;
  readonly onUpdate?: AgentToolUpdateCallback;
}

/** How many calls may be made inside each other: tools that call each other would otherwise never end. */
const maxDepth = 16;

export const createAnswerCaller = (run: Run, assistantMessage: AssistantMessage): Caller => ({
  run,
  assistantMessage,
  context: run.context,
  abort: run.abort,
  depth: 0,
  emit: (event) => run.events.emit(event),
});

export interface Outcome extends ToolCallOutcome {
  call: AgentToolCall;
  /** The call has no result yet; see `BeforeToolCallResult`. */
  isPostponed?: boolean;
}

/** Why a call gets an error without its tool. */
export interface Refusal {
  code: string;
  text: string;
  /** Ends the run if every result of the answer has it. Default false. */
  terminate?: boolean;
  details?: unknown;
}

interface Ready {
  kind: "ready";
  call: AgentToolCall;
  tool: AgentTool;
  args: AgentToolCall["arguments"];
}

/** A call that may be executed, or one whose outcome is known without that. */
export type Prepared = Ready | { kind: "decided"; outcome: Outcome };

const aborted: Refusal = { code: "aborted", text: "The call was aborted." };
const postponed: Refusal = {
  code: "postponed",
  text: "The call was not made yet. It is made when the run is resumed.",
};

/** Reports that a call starts, and prepares it. */
export async function beginCall(caller: Caller, call: AgentToolCall): Promise<Prepared> {
  await reportStart(caller, call);
  const prepared = await prepare(caller, call);
  // A call that is not executed ends before the next one starts.
  if (prepared.kind === "decided") await reportEnd(caller, prepared.outcome);
  return prepared;
}

/** Executes a prepared call and reports its end. */
export async function finishCall(caller: Caller, prepared: Prepared): Promise<Outcome> {
  if (prepared.kind === "decided") return prepared.outcome;
  // The run may have been aborted while the guard of another call was deciding.
  const outcome = caller.abort.isAborted
    ? createFailure(prepared.call, aborted)
    : await review(caller, prepared, await execute(caller, prepared));
  await reportEnd(caller, outcome);
  return outcome;
}

/** Answers a call without executing it. */
export async function refuseCall(caller: Caller, call: AgentToolCall, refusal: Refusal): Promise<Outcome> {
  await reportStart(caller, call);
  const outcome = createFailure(call, refusal);
  await reportEnd(caller, outcome);
  return outcome;
}

/** If two tools have the same name, the first is used. */
const findTool = (tools: readonly AgentTool[], name: string): AgentTool | undefined =>
  tools.find((tool) => tool.name === name);

/** Finds the tool of a call among those that are listed, else with the hook of the run. Rejects if that fails. */
export function findCalledTool(
  { run, context, abort }: Caller,
  call: AgentToolCall,
): AgentTool | undefined | Promise<AgentTool | undefined> {
  const listed = findTool(context.tools, call.name);
  const { findTool: find } = run.config;
  return listed || !find ? listed : abort.settle(() => find(call, abort.signal)).then(getValue);
}

function getValue<T>(settled: Settled<T>): T | undefined {
  if (settled.kind === "failed") throw settled.error;
  return settled.kind === "done" ? settled.value : undefined;
}

/** Turns calls of tools with `callsNamedTool` into those that they stand for. Returns the answer itself if it has none. */
export function unwrapCalls(answer: AssistantMessage, tools: readonly AgentTool[]): AssistantMessage {
  const content = answer.content.map((block) => (block.type === "toolCall" ? unwrapCall(block, tools) : block));
  return content.every((block, index) => block === answer.content[index]) ? answer : { ...answer, content };
}

function unwrapCall(call: AgentToolCall, tools: readonly AgentTool[]): AgentToolCall {
  const tool = findTool(tools, call.name);
  const read = call.argumentsText === undefined ? call : readText(call, call.argumentsText, tool);
  return tool?.callsNamedTool ? unwrapToolCall(read) : read;
}

/** Gives a bare text to a tool whose `prepareArguments` turns it into arguments. The text is not kept with the call. */
function readText(call: AgentToolCall, text: string, tool: AgentTool | undefined): AgentToolCall {
  const { argumentsText: _text, ...unread } = call;
  if (!tool?.prepareArguments) return unread;
  const { argumentsError: _error, ...readable } = unread;
  try {
    const read = { ...readable, arguments: tool.prepareArguments(text) as AgentToolCall["arguments"] };
    validateToolArguments(tool, read);
    return read;
  } catch {
    // Most tools take objects alone; the error tells the model what was wrong with the text.
    return unread;
  }
}

const createFailure = (call: AgentToolCall, { code, text, terminate = false, details }: Refusal): Outcome => ({
  call,
  result: { content: [{ type: "text", text }], details: {}, ...(terminate && { terminate }) },
  isError: true,
  errorCode: code,
  ...(details !== undefined && { errorDetails: details }),
});

/** Describes what a tool or a hook has thrown. Errors of others may have a number or nothing as their code. */
function toRefusal({ abort }: Caller, error: unknown): Refusal {
  const { code, details } = (error ?? {}) as { code?: unknown; details?: unknown };
  const own = typeof code === "string" && code !== "" ? code : undefined;
  return { code: own ?? (abort.isAborted ? aborted.code : "tool_failed"), text: getErrorMessage(error), details };
}

/** For the model. It may call a tool of an earlier request, or one of another agent. */
function formatUnknownTool(tools: readonly AgentTool[], name: string): string {
  const names = tools.map((tool) => tool.name);
  const known = names.length === 0 ? "There are no tools." : `The tools are: ${names.join(", ")}.`;
  return `Tool ${name} not found.${didYouMean(name, names)} ${known}`;
}

/** Finds the tool, checks the arguments and asks the guard. A guard that throws denies the call. */
async function prepare(caller: Caller, call: AgentToolCall): Promise<Prepared> {
  const { run, abort, assistantMessage, context, parentToolCallId } = caller;
  const refuse = (refusal: Refusal): Prepared => ({ kind: "decided", outcome: createFailure(call, refusal) });
  if (abort.isAborted) return refuse(aborted);
  if (run.failure) {
    const text = `The call was not executed. ${run.failure.failure.message}`;
    return refuse({ code: "not_executed", text });
  }
  let tool: AgentTool | undefined;
  try {
    const called = findCalledTool(caller, call);
    tool = called instanceof Promise ? await called : called;
  } catch (error) {
    return refuse(toRefusal(caller, error));
  }
  if (abort.isAborted) return refuse(aborted);
  if (!tool) return refuse({ code: "unknown_tool", text: formatUnknownTool(context.tools, call.name) });
  if (tool.callsNamedTool && call.via !== undefined) {
    return refuse({ code: "invalid_arguments", text: `${call.via} cannot call ${call.name}. Name another tool.` });
  }
  let args: AgentToolCall["arguments"];
  try {
    const prepared = tool.prepareArguments ? tool.prepareArguments(call.arguments) : call.arguments;
    args = validateToolArguments(tool, { ...call, arguments: prepared });
  } catch (error) {
    return refuse({ code: "invalid_arguments", text: getErrorMessage(error) });
  }
  const { beforeToolCall } = run.config;
  if (beforeToolCall) {
    const question = {
      assistantMessage,
      toolCall: call,
      args,
      context: withTool(context, tool),
      ...withParent(parentToolCallId),
    };
    const verdict = await abort.settle(() => beforeToolCall(question, abort.signal));
    // A guard that stops because of the abort has not judged the call.
    const code = abort.isAborted ? aborted.code : "denied";
    if (verdict.kind === "failed") return refuse({ code, text: getErrorMessage(verdict.error) });
    if (verdict.kind === "done" && verdict.value?.postpone && !abort.isAborted && parentToolCallId === undefined)
      return { kind: "decided", outcome: { ...createFailure(call, postponed), isPostponed: true } };
    if (verdict.kind === "done" && (verdict.value?.block || verdict.value?.postpone)) {
      const { reason, terminate = false } = verdict.value;
      return refuse({ code, text: reason || "Tool execution was blocked", terminate });
    }
    if (abort.isAborted) return refuse(aborted);
  }
  return { kind: "ready", call, tool, args };
}

async function execute(caller: Caller, { call, tool, args }: Ready): Promise<Outcome> {
  const { run, abort, parentToolCallId } = caller;
  let isSettled = false;
  const onUpdate = (partialResult: AgentToolUpdate) => {
    if (isSettled || getContentError(partialResult) !== undefined) return;
    const update = { toolCallId: call.id, toolName: call.name, args: call.arguments, partialResult };
    void run.events.emit({ type: "tool_execution_update", ...update, ...withParent(parentToolCallId) });
    caller.onUpdate?.(copyResult(partialResult));
  };
  const { onToolExecution, aroundToolExecution = (_id, work) => work() } = run.config;
  const nested = onToolExecution && new NestedCalls(caller, call);
  const settled = await abort.settle(() => {
    if (nested) onToolExecution(nested);
    return aroundToolExecution(call.id, () => tool.execute(call.id, args, abort.signal, onUpdate));
  });
  isSettled = true;
  await nested?.end();
  return withNestedUsage(toOutcome(caller, { call, tool }, settled), nested?.usage);
}

function toOutcome(
  caller: Caller,
  { call, tool }: Pick<Ready, "call" | "tool">,
  settled: Settled<AgentToolResult>,
): Outcome {
  if (settled.kind === "abandoned") return createFailure(call, aborted);
  if (settled.kind === "failed") return createFailure(call, toRefusal(caller, settled.error));
  const isError = settled.value?.isError === true;
  return checkOutcome(`The tool ${tool.name}`, { call, result: settled.value, isError });
}

const withNestedUsage = (outcome: Outcome, usage: Usage | undefined): Outcome =>
  usage ? { ...outcome, result: { ...outcome.result, usage: addUsage(usage, outcome.result.usage ?? {}) } } : outcome;

/** Lets `afterToolCall` replace parts of an outcome. If it throws, the outcome is an error. */
async function review(caller: Caller, { call, tool, args }: Ready, outcome: Outcome): Promise<Outcome> {
  const { run, abort, assistantMessage, parentToolCallId } = caller;
  const context = withTool(caller.context, tool);
  const { afterToolCall } = run.config;
  if (!afterToolCall) return outcome;
  const { result, isError } = outcome;
  const parent = withParent(parentToolCallId);
  const question = { assistantMessage, toolCall: call, args, result, isError, context, ...parent };
  const settled = await abort.settle(() => afterToolCall(question, abort.signal));
  if (settled.kind === "failed") return createFailure(call, toRefusal(caller, settled.error));
  if (settled.kind === "abandoned" || !settled.value) return outcome;
  const changes = settled.value;
  const terminate = changes.terminate ?? result.terminate;
  const usage = changes.usage ?? result.usage;
  const structuredContent = ("structuredContent" in changes ? changes : result).structuredContent;
  const changed: AgentToolResult = {
    content: changes.content ?? result.content,
    details: changes.details ?? result.details,
    ...(terminate !== undefined && { terminate }),
    ...(structuredContent !== undefined && { structuredContent }),
    ...(usage && { usage }),
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

/** A tool that is not listed is added, so that hooks find it by its name. */
const withTool = (context: WorkingContext, tool: AgentTool): WorkingContext =>
  context.tools.includes(tool) ? context : { ...context, tools: [...context.tools, tool] };

const withParent = (parentToolCallId: string | undefined) => parentToolCallId !== undefined && { parentToolCallId };

const reportStart = ({ emit, parentToolCallId }: Caller, { id, name, arguments: args }: AgentToolCall) =>
  emit({ type: "tool_execution_start", toolCallId: id, toolName: name, args, ...withParent(parentToolCallId) });

const reportEnd = (
  { emit, parentToolCallId }: Caller,
  { call, result, isError, errorCode = "tool_failed" }: Outcome,
): Promise<void> =>
  emit({
    type: "tool_execution_end",
    toolCallId: call.id,
    toolName: call.name,
    result,
    isError,
    ...withParent(parentToolCallId),
    ...(isError && { errorCode }),
  });

/** The calls that a tool makes while it is executed. */
class NestedCalls implements RunningToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly parentToolCallId?: string;
  readonly #caller: Caller;
  /** Aborts what is left when the tool has settled. Created with the first call. */
  #abort: Abort | undefined;
  readonly #running = new Set<Promise<Outcome>>();
  hasEnded = false;
  /** Sums up the calls that have ended. */
  usage: Usage | undefined;

  constructor(caller: Caller, { id, name }: AgentToolCall) {
    this.toolCallId = id;
    this.toolName = name;
    if (caller.parentToolCallId !== undefined) this.parentToolCallId = caller.parentToolCallId;
    this.#caller = caller;
  }

  async callTool(name: string, args: unknown, options: NestedCallOptions = {}): Promise<ToolCallOutcome> {
    const { id = `${this.toolCallId}/${++this.#caller.run.nestedCallCount}`, signal } = options;
    const call: AgentToolCall = { type: "toolCall", id, name, arguments: {} };
    if (this.hasEnded) {
      const text = `The call of ${name} was not executed: the call of ${this.toolName} that it belongs to has ended.`;
      return toToolCallOutcome(createFailure(call, { code: aborted.code, text }));
    }
    if (this.#caller.depth + 1 >= maxDepth) {
      const text = `The call of ${name} was not executed: ${maxDepth} calls are made inside each other already.`;
      return toToolCallOutcome(createFailure(call, { code: "too_deep", text }));
    }
    this.#abort ??= new Abort(this.#caller.abort.signal, this.#caller.run.clock);
    const abort = new Abort(this.#abort.signal, this.#caller.run.clock);
    const stopFollowing = followSignal(signal, (reason) => abort.now(reason));
    const running = this.#call(this.#createCaller(abort, options), call, args);
    this.#running.add(running);
    try {
      return toToolCallOutcome(await running);
    } finally {
      this.#running.delete(running);
      stopFollowing();
      abort.close();
    }
  }

  /** Aborts the calls that are still running and waits for their ends. */
  async end(): Promise<void> {
    this.hasEnded = true;
    if (this.#running.size > 0)
      this.#abort?.now(new Error(`The call of ${this.toolName} that made this one has ended.`));
    await Promise.all(this.#running);
    this.#abort?.close();
  }

  async #call(caller: Caller, call: AgentToolCall, args: unknown): Promise<Outcome> {
    try {
      // The caller may change its object while the call is being judged.
      call.arguments = structuredClone(args) as AgentToolCall["arguments"];
    } catch (error) {
      return await refuseCall(caller, call, { code: "invalid_arguments", text: getErrorMessage(error) });
    }
    const outcome = await finishCall(caller, await beginCall(caller, unwrapCall(call, caller.context.tools)));
    const { usage } = outcome.result;
    if (usage) this.usage = addUsage(this.usage ?? emptyUsage(), usage);
    return outcome;
  }

  #createCaller(abort: Abort, { tools, onUpdate }: NestedCallOptions): Caller {
    const { run, assistantMessage } = this.#caller;
    return {
      run,
      assistantMessage,
      context: tools ? { ...run.context, tools: [...tools] } : run.context,
      abort,
      depth: this.#caller.depth + 1,
      parentToolCallId: this.toolCallId,
      ...(onUpdate && { onUpdate }),
      async emit(event) {
        // A listener may wait for this call. So the call does not wait for a busy listener, and for none after an abort.
        const isBusy = run.events.isBusy;
        const handled = run.events.emit(event);
        if (!isBusy) await abort.settle(() => handled);
      },
    };
  }
}

const toToolCallOutcome = ({ result, isError, errorCode = "tool_failed", errorDetails }: Outcome): ToolCallOutcome => ({
  result: copyResult(result),
  isError,
  ...(isError && { errorCode }),
  ...(isError && errorDetails !== undefined && { errorDetails }),
});

/** Listeners and the log have the result too. Details that cannot be copied, because they contain functions, are shared. */
function copyResult<Result extends AgentToolResult>(result: Result): Result {
  const content = result.content.map((block) => ({ ...block }));
  try {
    return { ...result, content, ...("details" in result && { details: structuredClone(result.details) }) };
  } catch (error) {
    if (error instanceof DOMException) return { ...result, content };
    throw error;
  }
}
