/** Old results of tools are left out of requests. The log keeps them. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { TextContent } from "@tau/ai";
import { stringOf } from "../compaction/text.ts";
import { estimateTokens } from "../compaction/tokens.ts";

export interface PruneSettings {
  enabled: boolean;
  /** Tokens at the end of what the model has answered to whose results are always sent. */
  keepRecentTokens: number;
}

const leastStepTokens = 8_000;

/**
 * How far the boundary moves at a time. Where it moves, the provider's prompt cache ends: so it stays put until half of
 * what is kept has come in anew.
 */
export const pruneStep = ({ keepRecentTokens }: PruneSettings): number =>
  Math.max(leastStepTokens, Math.floor(keptOf(keepRecentTokens) / 2));

const keptOf = (tokens: number): number => (tokens > 0 ? tokens : 0);

/**
 * The token before which results are left out: a multiple of the step, and 0 where less than the kept tokens and a step
 * have been answered. It depends on nothing but the messages, so it is the same after a restart, and it only moves
 * forward while a transcript grows: over `n` tokens it has at most `n / step + 1` places.
 *
 * What came after the last answer has not been seen by the model yet, so it does not count: a result, however large its
 * turn, is sent at least once.
 */
export function pruneBoundary(messages: readonly AgentMessage[], settings: PruneSettings): number {
  const step = pruneStep(settings);
  let answered = 0;
  let tokens = 0;
  for (const message of messages) {
    tokens += tokensOf(message);
    if (message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted")
      answered = tokens;
  }
  return Math.max(0, Math.floor((answered - keptOf(settings.keepRecentTokens)) / step)) * step;
}

/**
 * The messages with every result that ends before the boundary replaced by a sentence. Nothing else is touched: calls
 * keep their results, and a result its ids, its details and whether it is an error. One that is shorter than the
 * sentence stays. The same array when nothing is left out.
 */
export function pruneMessages(messages: readonly AgentMessage[], settings: PruneSettings): readonly AgentMessage[] {
  if (!settings.enabled) return messages;
  const boundary = pruneBoundary(messages, settings);
  let pruned: AgentMessage[] | undefined;
  let end = 0;
  for (let at = 0; end < boundary && at < messages.length; at++) {
    const message = messages[at]!;
    end += tokensOf(message);
    if (end > boundary || message.role !== "toolResult") continue;
    const short = shortened(message);
    if (short === message) continue;
    pruned ??= [...messages];
    pruned[at] = short;
  }
  return pruned ?? messages;
}

type ToolResult = Extract<AgentMessage, { role: "toolResult" }>;

/** What is remembered of a message counts as long as it has the content it had. */
interface Known<T> {
  content: unknown;
  value: T;
}
const estimates = new WeakMap<AgentMessage, Known<number>>();
const replacements = new WeakMap<ToolResult, Known<ToolResult>>();

const tokensOf = (message: AgentMessage): number => remembered(estimates, message, estimateTokens);
const shortened = (message: ToolResult): ToolResult => remembered(replacements, message, withoutContent);

function remembered<M extends AgentMessage, T>(known: WeakMap<M, Known<T>>, message: M, make: (message: M) => T): T {
  const content = "content" in message ? message.content : undefined;
  const before = known.get(message);
  if (before && before.content === content) return before.value;
  const value = make(message);
  known.set(message, { content, value });
  return value;
}

function withoutContent(message: ToolResult): ToolResult {
  const text = sentence(stringOf(message.toolName));
  return isShort(message.content, text.length) ? message : { ...message, content: [{ type: "text", text }] };
}

const sentence = (toolName: string) =>
  `[This old result${toolName && ` of ${toolName.slice(0, 64).toWellFormed()}`} was left out. If you need it, make the call again.]`;

/** Content of logs is not checked and may be anything. */
function isShort(content: unknown, length: number): boolean {
  if (!Array.isArray(content)) return stringOf(content).length <= length;
  let text = 0;
  for (const block of content as (Partial<TextContent> | null)[]) {
    if (block?.type !== "text") return false;
    text += stringOf(block.text).length;
  }
  return text <= length;
}
