/** The tool calls of one answer. Each gets exactly one outcome, whatever its tool, its guard or an abort does. */
import type { AssistantMessage, ToolResultMessage } from "@tau/ai";
import { type CallOrder, getCallOrder, toStages } from "./call-order.ts";
import { addMessage, pollMessages, type Run } from "./run.ts";
import {
  beginCall,
  type Caller,
  createAnswerCaller,
  findCalledTool,
  finishCall,
  type Outcome,
  type Prepared,
  refuseCall,
  type Refusal,
} from "./tool-call.ts";
import type { AgentMessage, AgentTool, AgentToolCall } from "./types.ts";

export interface BatchOutcome {
  results: ToolResultMessage[];
  /** The model should see the results: there are some, and not all of them asked to end the run. */
  wantsMore: boolean;
  /** Steering that came in the middle of a sequential batch. */
  steering: AgentMessage[];
  /** Calls have no result yet: the run ends. */
  isPostponed: boolean;
}

const skipped: Refusal = { code: "skipped", text: "Skipped due to queued user message." };

export async function executeToolCalls(
  run: Run,
  message: AssistantMessage,
  calls: AgentToolCall[],
): Promise<BatchOutcome> {
  const mode = run.config.toolExecution ?? "parallel";
  const caller = createAnswerCaller(run, message);
  const tools = calls.length <= 1 || mode === "sequential" ? [] : await findTools(caller, calls);
  if (calls.length <= 1 || mode === "sequential" || tools.some((tool) => tool?.executionMode === "sequential")) {
    return executeInSequence(run, message, calls);
  }
  const orders = tools.map((tool) => getCallOrder(tool, mode));
  return executeInStages(run, message, calls, orders);
}

/** Finds the tools that decide about the order of calls. One that cannot be found is undefined: its call reports why. */
async function findTools(caller: Caller, calls: readonly AgentToolCall[]): Promise<(AgentTool | undefined)[]> {
  const settled = await Promise.allSettled(calls.map(async (call) => findCalledTool(caller, call)));
  return settled.map((result) => (result.status === "fulfilled" ? result.value : undefined));
}

/** Answers calls that must not be executed, all with the same text. */
export async function refuseToolCalls(
  run: Run,
  message: AssistantMessage,
  calls: AgentToolCall[],
  refusal: Refusal,
): Promise<BatchOutcome> {
  const caller = createAnswerCaller(run, message);
  const results: ToolResultMessage[] = [];
  for (const call of calls) results.push(await addResult(run, await refuseCall(caller, call, refusal)));
  return { results, wantsMore: calls.length > 0, steering: [], isPostponed: false };
}

async function executeInSequence(run: Run, message: AssistantMessage, calls: AgentToolCall[]): Promise<BatchOutcome> {
  const caller = createAnswerCaller(run, message);
  const outcomes: Outcome[] = [];
  const results: ToolResultMessage[] = [];
  let steering: AgentMessage[] = [];
  for (const call of calls) {
    // Not polled after the last call: the end of the turn does that. A run that ends because of a call takes no messages.
    const mayPoll = outcomes.length > 0 && steering.length === 0 && !outcomes.some(isPostponed);
    if (mayPoll) steering = await pollMessages(run, "getSteeringMessages");
    const outcome =
      steering.length > 0
        ? await refuseCall(caller, call, skipped)
        : await finishCall(caller, await beginCall(caller, call));
    outcomes.push(outcome);
    if (!isPostponed(outcome)) results.push(await addResult(run, outcome));
  }
  return { results, wantsMore: outcomes.some(wantsMore), steering, isPostponed: outcomes.some(isPostponed) };
}

async function executeInStages(
  run: Run,
  message: AssistantMessage,
  calls: AgentToolCall[],
  orders: readonly CallOrder[],
): Promise<BatchOutcome> {
  const caller = createAnswerCaller(run, message);
  const outcomes: Outcome[] = [];
  const results: ToolResultMessage[] = [];
  let added = 0;
  /** In the order of the calls, so up to the first call that has not ended. */
  const addResults = async () => {
    for (let outcome; (outcome = outcomes[added]); added++)
      if (!isPostponed(outcome)) results.push(await addResult(run, outcome));
  };
  const executing: Promise<Outcome>[] = [];
  for (const stage of toStages(orders)) {
    // The stage may take long, and a process that is killed in it should not lose what is known.
    await addResults();
    // Guards are called one after the other, so that a person is asked in order; then the tools run together.
    const prepared = new Map<number, Prepared>();
    for (const index of stage) prepared.set(index, await beginCall(caller, calls[index]!));
    for (const [index, call] of prepared) {
      executing[index] = finishCall(caller, call).then((outcome) => (outcomes[index] = outcome));
    }
    await Promise.all(stage.filter((index) => orders[index] !== "unordered").map((index) => executing[index]));
  }
  await Promise.all(executing);
  await addResults();
  return { results, wantsMore: outcomes.some(wantsMore), steering: [], isPostponed: outcomes.some(isPostponed) };
}

const isPostponed = (outcome: Outcome): boolean => outcome.isPostponed === true;

const wantsMore = ({ result }: Outcome) => result.terminate !== true;

async function addResult(run: Run, { call, result, isError }: Outcome): Promise<ToolResultMessage> {
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: result.content,
    details: result.details,
    isError,
    ...(result.usage && { usage: result.usage }),
    timestamp: run.clock.now(),
  };
  await addMessage(run, message);
  return message;
}
