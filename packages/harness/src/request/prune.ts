/** Leaves old results of tools out of requests. The log keeps them. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { TextContent } from "@tau/ai";
import { asText } from "../compaction/text.ts";
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
 * Messages after the last answer are not included, because the model has not seen them: every result is sent at least once.
 */
export function pruneBoundary(messages: readonly AgentMessage[], settings: PruneSettings): number {
  let end = 0;
  let answeredEnd = 0;
  for (const { message, tokens } of measure(messages)) {
    end += tokens;
    if (isFinishedAnswer(message)) answeredEnd = end;
  }
  const step = pruneStep(settings);
  const keptTokens = Math.max(0, settings.keepRecentTokens || 0);
  return Math.max(0, Math.floor((answeredEnd - keptTokens) / step)) * step;
}

/**
 * Replaces every result that ends before the boundary by a note. Nothing else changes: calls keep their results, and
 * results keep their ids and details. A result that is shorter than the note stays. Returns the same array if nothing is
 * left out, and always the same object for the same message.
 */
export function pruneMessages(messages: readonly AgentMessage[], settings: PruneSettings): readonly AgentMessage[] {
  if (!settings.enabled) return messages;
  const boundary = pruneBoundary(messages, settings);
  if (boundary === 0) return messages;
  let end = 0;
  let isPruned = false;
  const pruned = measure(messages).map((entry) => {
    end += entry.tokens;
    if (end > boundary || entry.message.role !== "toolResult") return entry.message;
    entry.shortened ??= shorten(entry.message);
    isPruned ||= entry.shortened !== entry.message;
    return entry.shortened;
  });
  return isPruned ? pruned : messages;
}

interface MeasuredMessage {
  message: AgentMessage;
  /** The content that was measured: it may have been replaced since. */
  content: unknown;
  tokens: number;
  shortened?: AgentMessage;
}

/** The measured messages of each transcript, by its first message. */
const transcripts = new WeakMap<AgentMessage, MeasuredMessage[]>();

/** Estimates only messages that are new or have changed since the last call for the same transcript. */
function measure(messages: readonly AgentMessage[]): readonly MeasuredMessage[] {
  const [first] = messages;
  if (!first) return [];
  const measured = transcripts.get(first) ?? [];
  transcripts.set(first, measured);
  measured.length = Math.min(measured.length, messages.length);
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!;
    const { content } = message as { content?: unknown };
    const known = measured[index];
    if (known?.message === message && known.content === content) continue;
    measured[index] = { message, content, tokens: estimateTokens(message) };
  }
  return measured;
}

type ToolResult = Extract<AgentMessage, { role: "toolResult" }>;

function shorten(message: ToolResult): ToolResult {
  const toolName = asText(message.toolName);
  const origin = toolName && ` of ${toolName.slice(0, 64).toWellFormed()}`;
  const text = `[This old result${origin} was left out. If you need it, make the call again.]`;
  return isShort(message.content, text.length) ? message : { ...message, content: [{ type: "text", text }] };
}

/** Content from a log is not validated. */
function isShort(content: unknown, maxLength: number): boolean {
  if (!Array.isArray(content)) return asText(content).length <= maxLength;
  const blocks = content as (Partial<TextContent> | null)[];
  const length = blocks.reduce((sum, block) => sum + asText(block?.text).length, 0);
  return blocks.every((block) => block?.type === "text") && length <= maxLength;
}
