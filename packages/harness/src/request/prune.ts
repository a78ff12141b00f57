/** Leaves old results of tools out of requests. The log keeps them. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { TextContent } from "@tau/ai";
import { toText } from "../compaction/text.ts";
import { estimateTokens } from "../compaction/tokens.ts";
import { isFinishedAnswer } from "../session/message.ts";

export interface PruneSettings {
  enabled: boolean;
  /** Tokens before the end of the last answer whose results are always sent. */
  keepRecentTokens: number;
}

const minStepTokens = 8_000;

/**
 * How far the boundary moves at a time. The provider's prompt cache breaks there whenever it moves, so it stays until half
 * of what is kept is new.
 */
export const pruneStep = ({ keepRecentTokens }: PruneSettings): number =>
  Math.max(minStepTokens, Math.floor(Math.max(0, keepRecentTokens || 0) / 2));

/**
 * Results before this token are left out: a multiple of the step, and 0 until the kept tokens and one step have been
 * answered. It depends only on the messages, so it is the same after a restart, and it only moves forward while a
 * transcript grows: over `n` tokens it has at most `n / step + 1` values.
 *
 * Messages after the last answer do not count, because the model has not seen them: every result is sent at least once.
 */
export const pruneBoundary = (messages: readonly AgentMessage[], settings: PruneSettings): number =>
  measure(messages, settings).boundary;

/** The boundary, and for each message the tokens up to its end. */
function measure(messages: readonly AgentMessage[], settings: PruneSettings): { boundary: number; ends: number[] } {
  const ends: number[] = [];
  let end = 0;
  let answeredEnd = 0;
  for (const message of messages) {
    end += getTokens(message);
    ends.push(end);
    if (isFinishedAnswer(message)) answeredEnd = end;
  }
  const step = pruneStep(settings);
  const kept = Math.max(0, settings.keepRecentTokens || 0);
  return { boundary: Math.max(0, Math.floor((answeredEnd - kept) / step)) * step, ends };
}

/**
 * Replaces every result that ends before the boundary by a note. Nothing else changes: calls keep their results, and
 * results keep their ids and details. A result that is shorter than the note stays. Returns the same array if nothing is
 * left out.
 */
export function pruneMessages(messages: readonly AgentMessage[], settings: PruneSettings): readonly AgentMessage[] {
  if (!settings.enabled) return messages;
  const { boundary, ends } = measure(messages, settings);
  if (boundary === 0) return messages;
  let isPruned = false;
  const pruned = messages.map((message, index) => {
    if (ends[index]! > boundary || message.role !== "toolResult") return message;
    const short = shorten(message);
    isPruned ||= short !== message;
    return short;
  });
  return isPruned ? pruned : messages;
}

type ToolResult = Extract<AgentMessage, { role: "toolResult" }>;

/** Remembers a value for a message until its content is replaced. */
function remember<Message extends AgentMessage, Value>(compute: (message: Message) => Value) {
  const known = new WeakMap<Message, { content: unknown; value: Value }>();
  return (message: Message): Value => {
    const { content } = message as { content?: unknown };
    let entry = known.get(message);
    if (!entry || entry.content !== content) known.set(message, (entry = { content, value: compute(message) }));
    return entry.value;
  };
}

const getTokens = remember(estimateTokens);

/** Always the same object for the same message, so that an unchanged request is recognised. */
const shorten = remember((message: ToolResult): ToolResult => {
  const toolName = toText(message.toolName);
  const origin = toolName && ` of ${toolName.slice(0, 64).toWellFormed()}`;
  const text = `[This old result${origin} was left out. If you need it, make the call again.]`;
  return isShort(message.content, text.length) ? message : { ...message, content: [{ type: "text", text }] };
});

/** Content from a log is not validated. */
function isShort(content: unknown, maxLength: number): boolean {
  if (!Array.isArray(content)) return toText(content).length <= maxLength;
  const blocks = content as (Partial<TextContent> | null)[];
  const length = blocks.reduce((sum, block) => sum + toText(block?.text).length, 0);
  return blocks.every((block) => block?.type === "text") && length <= maxLength;
}
