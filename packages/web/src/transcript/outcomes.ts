/** Finds the outcome of each call in the entries after it. Pure. */
import { type Approval, customTypes, type SessionEntry } from "@tau/protocol";
import { toFields } from "@tau/protocol/surface";
import type { ToolCall, ToolResultMessage } from "./messages.ts";

/** Everything known of a call besides the call itself. */
export interface Outcome {
  readonly result: ToolResultMessage | undefined;
  /** Why it was not allowed. */
  readonly denied: string | undefined;
  /** Whether a person is asked about it. */
  readonly isAsked: boolean;
}

export const noOutcome: Outcome = { result: undefined, denied: undefined, isAsked: false };

type OpenOutcome = { -readonly [Name in keyof Outcome]: Outcome[Name] };

/** Ids of calls may come again in later answers, so what is said of an id is about the last answer that has it. */
export function findOutcomes(
  entries: readonly SessionEntry[],
  approvals: readonly Pick<Approval, "toolCallId">[],
): Map<ToolCall, Outcome> {
  const outcomes = new Map<ToolCall, Outcome>();
  /** Outcomes of the last answer that has the id; some answers have an id twice. */
  const byId = new Map<string, OpenOutcome[]>();
  const findOpen = (id: string) => byId.get(id)?.find(({ result }) => !result);
  for (const entry of entries) {
    if (entry.type === "message" && entry.message.role === "assistant") {
      const calls = entry.message.content.filter((block) => block.type === "toolCall");
      for (const { id } of calls) byId.set(id, []);
      for (const call of calls) {
        const outcome: OpenOutcome = { ...noOutcome };
        outcomes.set(call, outcome);
        byId.get(call.id)!.push(outcome);
      }
    } else if (entry.type === "message" && entry.message.role === "toolResult") {
      const open = findOpen(entry.message.toolCallId);
      if (open) open.result = entry.message;
    } else if (entry.type === "custom" && entry.customType === customTypes.decision) {
      const { toolCallId, outcome, reason } = toFields(entry.data);
      const open = outcome === "denied" ? findOpen(String(toolCallId)) : undefined;
      if (open) open.denied = String(reason ?? "");
    }
  }
  for (const { toolCallId } of approvals) {
    const open = findOpen(toolCallId);
    if (open) open.isAsked = true;
  }
  return outcomes;
}

export const isSameOutcome = (a: Outcome, b: Outcome): boolean =>
  a.result === b.result && a.denied === b.denied && a.isAsked === b.isAsked;
