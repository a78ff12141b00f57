/** Finds where a context may be cut in two, and chooses the best place. Pure. */
import type { AgentMessage } from "@tau/agent";
import { isFinishedAnswer } from "../session/message.ts";
import { getToolCalls } from "./files.ts";

const cutRoles: ReadonlySet<string> = new Set(["user", "assistant", "bashExecution", "custom", "branchSummary"]);

/**
 * The indexes of the messages that may be the first to be kept: never a result, and never a message between a call and its
 * result. A result belongs to the latest call before it with its id, because some providers use ids again.
 */
export function cutPoints(messages: readonly AgentMessage[]): number[] {
  /** For each message, by how much the number of calls without a result changes there. */
  const changes = Array.from({ length: messages.length + 1 }, () => 0);
  const callIndexes = new Map<string, number>();
  for (const [index, message] of messages.entries()) {
    for (const { id } of getToolCalls(message)) callIndexes.set(id, index);
    const callIndex = message.role === "toolResult" ? callIndexes.get(message.toolCallId) : undefined;
    if (callIndex === undefined) continue;
    changes[callIndex + 1]!++;
    changes[index + 1]!--;
  }
  const last = findOpenCall(messages) ?? messages.length - 1;
  let openCalls = 0;
  return messages.flatMap(({ role }, index) => {
    openCalls += changes[index]!;
    return openCalls === 0 && index <= last && cutRoles.has(role) ? [index] : [];
  });
}

/** The index of the last answer if some of its calls have no results yet: a later cut would separate them. */
export function findOpenCall(messages: readonly AgentMessage[]): number | undefined {
  const index = messages.findLastIndex(({ role }) => role === "assistant" || role === "user");
  const answer = messages[index];
  if (!isFinishedAnswer(answer)) return undefined;
  const answered = new Set(messages.slice(index).flatMap((m) => (m.role === "toolResult" ? m.toolCallId : [])));
  return getToolCalls(answer).some(({ id }) => !answered.has(id)) ? index : undefined;
}

const isInput = (message: AgentMessage | undefined) =>
  message !== undefined && message.role !== "assistant" && cutRoles.has(message.role);

/** A turn starts with the first input after an answer. */
const isTurnStart = (messages: readonly AgentMessage[], index: number): boolean =>
  isInput(messages[index]) && !isInput(messages[index - 1]);

/** The start of the turn that a cut splits; undefined if it splits none, or if the start is not in the context. */
export function splitTurnStart(messages: readonly AgentMessage[], cut: number): number | undefined {
  if (isTurnStart(messages, cut)) return undefined;
  for (let index = cut - 1; index >= 0; index--) if (isTurnStart(messages, index)) return index;
  return undefined;
}

interface CutChoice {
  messages: readonly AgentMessage[];
  /** For each message, the tokens of it and all after it: see `sumFromEnd`. */
  kept: readonly number[];
  /** Ascending. */
  cuts: readonly number[];
  /** How much should be kept at most. */
  targetTokens: number;
  /** How much may be kept if the last messages cannot be divided. */
  maxTokens: number;
}

/**
 * The first message to keep; undefined if nothing can be kept. Whole turns are kept if they are at least half of what could
 * be kept; otherwise a turn is split. Messages that cannot be divided are kept up to `maxTokens`: a file that was just read
 * would only be read again.
 */
export function chooseCut({ messages, kept, cuts, targetTokens, maxTokens }: CutChoice): number | undefined {
  const fitting = cuts.filter((cut) => kept[cut]! <= targetTokens);
  const [first] = fitting;
  if (first === undefined) {
    const last = cuts.at(-1);
    return last !== undefined && kept[last]! <= maxTokens ? last : undefined;
  }
  const turnStart = fitting.find((cut) => isTurnStart(messages, cut));
  return turnStart !== undefined && kept[turnStart]! * 2 >= kept[first]! ? turnStart : first;
}

/** For each number, the sum of it and all after it; and 0 for the end. */
export function sumFromEnd(numbers: readonly number[]): number[] {
  const sums = [...numbers, 0];
  for (let index = numbers.length - 1; index >= 0; index--) sums[index]! += sums[index + 1]!;
  return sums;
}
