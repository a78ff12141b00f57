/** The calls that a crash left without a result. They are never run again silently: the model is told what is known. */
import type { ToolCall, ToolResultMessage } from "@tau/ai";
import { type CustomEntry, customTypes, type SessionEntry } from "./entry.ts";

export interface UnfinishedCall {
  call: ToolCall;
  /** It had begun: what it did is unknown. Otherwise it certainly did nothing. */
  hasStarted: boolean;
}

/** What the journal says when a call begins. */
export interface CallStarted {
  toolCallId: string;
  toolName: string;
}

/** The calls of the last answer on a branch that have no result; `started` are those that had begun. Pure. */
export function unfinishedCalls(branch: readonly SessionEntry[], started: ReadonlySet<string>): UnfinishedCall[] {
  const at = branch.findLastIndex((entry) => entry.type === "message" && entry.message?.role === "assistant");
  const answer = at < 0 ? undefined : branch[at];
  if (answer?.type !== "message" || answer.message.role !== "assistant") return [];
  // An answer that failed or was cut has none of its calls executed.
  if (answer.message.stopReason === "error" || answer.message.stopReason === "aborted") return [];
  const finished = new Set(branch.slice(at + 1).map(resultId));
  const content: unknown = answer.message.content;
  const blocks = Array.isArray(content) ? (content as (ToolCall | null)[]) : [];
  const calls = blocks.filter((block) => block?.type === "toolCall") as ToolCall[];
  return calls.filter(({ id }) => !finished.has(id)).map((call) => ({ call, hasStarted: started.has(call.id) }));
}

/** The results that say so. Pure. */
export const getOutcomes = (calls: readonly UnfinishedCall[], timestamp: number): ToolResultMessage[] =>
  calls.map(({ call, hasStarted }) => ({
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text: hasStarted ? unknownText : notRunText }],
    details: { outcome: hasStarted ? "unknown" : "not_run" },
    isError: true,
    timestamp,
  }));

const unknownText =
  "The outcome of this call is unknown: the program ended while it was running. It may have done all, some or none of its work. Look at the state of things before you do it again.";
const notRunText = "This call was not executed: the program ended before it was started.";

const resultId = (entry: SessionEntry) =>
  entry.type === "message" && entry.message?.role === "toolResult" ? entry.message.toolCallId : undefined;

/** The calls that a journal says were started. Pure. */
export const startedCalls = (journal: readonly SessionEntry[]): Set<string> =>
  new Set(journal.flatMap((entry) => startedId(entry) ?? []));

const startedId = (entry: SessionEntry) =>
  entry.type === "custom" && entry.customType === customTypes.callStarted
    ? (entry as CustomEntry<CallStarted>).data?.toolCallId
    : undefined;
