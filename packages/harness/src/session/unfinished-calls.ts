/** Calls that a crash left without a result. They are never run again silently: the model gets what is known. */
import type { ToolCall, ToolResultMessage } from "@tau/ai";
import { getToolCalls } from "../compaction/files.ts";
import type { AskedData } from "@tau/protocol";
import { type CustomEntry, customTypes, getNestedCall, type NestedCall, type SessionEntry } from "./entry.ts";
import { isFinishedAnswer } from "./message.ts";

export interface UnfinishedCall {
  call: ToolCall;
  /** If true, it is unknown what the call did. If false, it did nothing. */
  hasStarted: boolean;
  /** The questions that were asked about it and that outlive their run. */
  questionIds: readonly string[];
}

/** The calls of the last answer on a branch that have no result; `records` are the entries about its calls. Pure. */
export function unfinishedCalls(branch: readonly SessionEntry[], records: readonly SessionEntry[]): UnfinishedCall[] {
  const index = branch.findLastIndex((entry) => entry.type === "message" && entry.message?.role === "assistant");
  const answer = branch[index];
  // The calls of a failed or aborted answer are never executed.
  if (answer?.type !== "message" || !isFinishedAnswer(answer.message)) return [];
  const finished = new Set(branch.slice(index + 1).map(getResultId));
  const started = findStartedCalls(records);
  const asked = records.flatMap(getAsked);
  const calls = getToolCalls(answer.message).filter(({ id }) => !finished.has(id));
  return calls.map((call) => ({
    call,
    hasStarted: started.has(call.id),
    questionIds: asked.flatMap(({ toolCallId, approval }) => (toolCallId === call.id ? [approval.id] : [])),
  }));
}

function getAsked(entry: SessionEntry): AskedData[] {
  if (entry.type !== "custom" || entry.customType !== customTypes.asked) return [];
  const { data } = entry as CustomEntry<AskedData | null>;
  return typeof data?.toolCallId === "string" && typeof data.approval?.id === "string" ? [data] : [];
}

/**
 * Whether the run of a branch is open: its last message is no answer, or one that failed or calls, and no end was recorded
 * since. `branch` begins with that message. Pure.
 */
export function isRunOpen([last, ...others]: readonly SessionEntry[]): boolean {
  if (last?.type !== "message") return false;
  if (others.some((entry) => entry.type === "custom" && entry.customType === customTypes.runEnded)) return false;
  return !isFinishedAnswer(last.message) || getToolCalls(last.message).length > 0;
}

/** Whether an answer has to follow a message that is the last one. A failed answer ended its run. Pure. */
export function isUnanswered(last: SessionEntry): boolean {
  if (last.type !== "message") return false;
  return (
    last.message?.role !== "assistant" || (isFinishedAnswer(last.message) && getToolCalls(last.message).length > 0)
  );
}

/** Creates the results for the model of these calls. Pure. */
export const createResults = (calls: readonly UnfinishedCall[], timestamp: number): ToolResultMessage[] =>
  calls.map((unfinished) => ({
    role: "toolResult",
    toolCallId: unfinished.call.id,
    toolName: unfinished.call.name,
    ...describeOutcome(unfinished),
    isError: true,
    timestamp,
  }));

function describeOutcome({ hasStarted, questionIds }: UnfinishedCall): Pick<ToolResultMessage, "content" | "details"> {
  const [outcome, text] = hasStarted
    ? ["unknown", unknownText]
    : questionIds.length > 0
      ? ["not_answered", notAnsweredText]
      : ["not_run", notRunText];
  return { content: [{ type: "text", text }], details: { outcome } };
}

/**
 * The outcomes of calls that tools made, and that these entries record as started but not as ended: the program ended while
 * they were running. Pure.
 */
export function createNestedOutcomes(entries: readonly SessionEntry[]): NestedCall[] {
  const ended = new Set(entries.map((entry) => getNestedCall(entry)?.toolCallId));
  return getCallStarts(entries).flatMap(({ toolCallId, toolName, parentToolCallId }) => {
    if (parentToolCallId === undefined || ended.has(toolCallId)) return [];
    const content = [{ type: "text" as const, text: unknownText }];
    const call = { toolCallId, toolName: toolName ?? "", parentToolCallId };
    return [{ ...call, input: {}, content, details: { outcome: "unknown" }, isError: true }];
  });
}

const unknownText =
  "The outcome of this call is unknown: the program ended while it was running. It may have done all, some or none of its work. Check the current state before you repeat it.";
const notAnsweredText =
  "This call was not made: it needs permission, and nobody answered the question about it. Do not try it in another way.";
const notRunText = "This call was not executed: the program ended before it was started.";

const getResultId = (entry: SessionEntry) =>
  entry.type === "message" && entry.message?.role === "toolResult" ? entry.message.toolCallId : undefined;

/** The ids of the calls that these entries record as started. Pure. */
const findStartedCalls = (entries: readonly SessionEntry[]): Set<string> =>
  new Set(getCallStarts(entries).map(({ toolCallId }) => toolCallId));

interface CallStart {
  toolCallId: string;
  toolName?: string;
  parentToolCallId?: string;
}

const getCallStarts = (entries: readonly SessionEntry[]): CallStart[] =>
  entries.flatMap((entry) => {
    if (entry.type !== "custom" || entry.customType !== customTypes.callStarted) return [];
    const { data } = entry as CustomEntry<CallStart>;
    return data?.toolCallId === undefined ? [] : [data];
  });
