/** Finds the outcome of each call in the entries after it. Pure. */
import { customTypes, getNestedCall, type LiveView, type SessionEntry } from "@tau/protocol";
import { EndedCalls, hasSameRows, type NestedCallRow, toFields } from "@tau/protocol/surface";
import type { ToolCall, ToolResultMessage } from "./messages.ts";

/** Everything known of a call besides the call itself. */
export interface Outcome {
  readonly result: ToolResultMessage | undefined;
  /** Why it was not allowed. */
  readonly denied: string | undefined;
  /** Whether a person is asked about it. */
  readonly isAsked: boolean;
  /** The calls that its tool made. */
  readonly nested: readonly NestedCallRow[];
}

export const noOutcome: Outcome = { result: undefined, denied: undefined, isAsked: false, nested: [] };

type OpenOutcome = { -readonly [Name in keyof Outcome]: Outcome[Name] };

/** Ids of calls may come again in later answers, so what is said of an id is about the last answer that has it. */
export function findOutcomes(
  entries: readonly SessionEntry[],
  { tools, approvals }: Pick<LiveView, "tools" | "approvals">,
): Map<ToolCall, Outcome> {
  const outcomes = new Map<ToolCall, Outcome>();
  /** Outcomes of the last answer that has the id; some answers have an id twice. */
  const byId = new Map<string, OpenOutcome[]>();
  const ended = new EndedCalls();
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
      const { toolCallId: id } = entry.message;
      const open = findOpen(id);
      if (open) Object.assign(open, { result: entry.message, nested: ended.take(id) });
    } else if (entry.type === "custom" && entry.customType === customTypes.decision) {
      const { toolCallId, outcome, reason } = toFields(entry.data);
      const open = outcome === "denied" ? findOpen(String(toolCallId)) : undefined;
      if (open) open.denied = String(reason ?? "");
    } else {
      const nested = getNestedCall(entry);
      if (nested) ended.add(nested);
    }
  }
  const askedIds = new Set(approvals.map(({ toolCallId }) => toolCallId));
  const running = new Map(tools.map(({ id, calls }) => [id, calls]));
  for (const id of byId.keys()) {
    const open = findOpen(id);
    if (!open) continue;
    open.isAsked = askedIds.has(id);
    open.nested = ended.list(id, { running: running.get(id) ?? [], askedIds });
  }
  return outcomes;
}

export const isSameOutcome = (a: Outcome, b: Outcome): boolean =>
  a.result === b.result && a.denied === b.denied && a.isAsked === b.isAsked && hasSameRows(a.nested, b.nested);
