/** Where a context may be cut in two, and where it is best cut. Pure. */
import type { AgentMessage } from "@tau/agent";
import { getToolCalls } from "./files.ts";

const cutRoles: ReadonlySet<string> = new Set(["user", "assistant", "bashExecution", "custom", "branchSummary"]);

/**
 * The messages that may be the first one that is kept. Never a result, and never one between a call and its result. A
 * result belongs to the latest call before it that has its id, since some providers use ids again.
 */
export function cutPoints(messages: readonly AgentMessage[]): number[] {
  /** At each message, how many calls more are waiting for their result there than at the one before. */
  const waiting = Array.from({ length: messages.length + 1 }, () => 0);
  const callAt = new Map<string, number>();
  for (const [at, message] of messages.entries()) {
    for (const { id } of getToolCalls(message)) callAt.set(id, at);
    const from = message.role === "toolResult" ? callAt.get(message.toolCallId) : undefined;
    if (from === undefined) continue;
    waiting[from + 1]!++;
    waiting[at + 1]!--;
  }
  const last = openCallAt(messages) ?? messages.length - 1;
  let count = 0;
  return messages.flatMap(({ role }, at) => {
    count += waiting[at]!;
    return count === 0 && at <= last && cutRoles.has(role) ? [at] : [];
  });
}

/**
 * The answer at the end whose calls have not all got their results. They may still come, and would then have lost their
 * call if the cut were behind it.
 */
export function openCallAt(messages: readonly AgentMessage[]): number | undefined {
  const at = messages.findLastIndex(({ role }) => role === "assistant" || role === "user");
  const answer = messages[at];
  if (answer?.role !== "assistant" || answer.stopReason === "error" || answer.stopReason === "aborted")
    return undefined;
  const answered = new Set(messages.slice(at).flatMap((m) => (m.role === "toolResult" ? m.toolCallId : [])));
  return getToolCalls(answer).some(({ id }) => !answered.has(id)) ? at : undefined;
}

const isInput = (message: AgentMessage | undefined) =>
  message !== undefined && message.role !== "assistant" && cutRoles.has(message.role);

/** Whether a turn begins here: with what the person, or somebody for them, said after an answer. */
export const isTurnStart = (messages: readonly AgentMessage[], at: number): boolean =>
  isInput(messages[at]) && !isInput(messages[at - 1]);

/** Where the turn begins that a cut splits; undefined when it splits none, or one whose beginning is long gone. */
export function splitTurnStart(messages: readonly AgentMessage[], cut: number): number | undefined {
  if (isTurnStart(messages, cut)) return undefined;
  for (let at = cut - 1; at >= 0; at--) if (isTurnStart(messages, at)) return at;
  return undefined;
}

export interface CutChoice {
  messages: readonly AgentMessage[];
  /** For each message, what it and all after it cost: see `keptTokens`. */
  kept: readonly number[];
  /** In order. */
  cuts: readonly number[];
  /** What should be kept at most. */
  keep: number;
  /** What may be kept when nothing smaller can be cut off. */
  most: number;
}

/**
 * The first message to keep; undefined when nothing can be kept. Whole turns are kept if they make up half of what
 * could be, else a turn is split. What cannot be split is kept whole as long as `most` allows it: a file that was just
 * read would only be read again.
 */
export function chooseCut({ messages, kept, cuts, keep, most }: CutChoice): number | undefined {
  const fitting = cuts.filter((at) => kept[at]! <= keep);
  const first = fitting[0];
  if (first === undefined) {
    const last = cuts.at(-1);
    return last !== undefined && kept[last]! <= most ? last : undefined;
  }
  const whole = fitting.find((at) => isTurnStart(messages, at));
  return whole !== undefined && kept[whole]! * 2 >= kept[first]! ? whole : first;
}

/** From what each message costs: for each, what it and all after it cost; and 0 for the end. */
export function keptTokens(tokens: readonly number[]): number[] {
  const kept = [...tokens, 0];
  for (let at = tokens.length - 1; at >= 0; at--) kept[at]! += kept[at + 1]!;
  return kept;
}
