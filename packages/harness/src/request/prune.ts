/** Old results of tools are left out of requests. The log keeps them. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { TextContent } from "@tau/ai";
import { toText } from "../compaction/text.ts";
import { getContent, measure, type Walk } from "./prune-tokens.ts";

export interface PruneSettings {
  enabled: boolean;
  /** Tokens at the end of what the model has answered to whose results are always sent. */
  keepRecentTokens: number;
}

const minStepTokens = 8_000;

/**
 * How far the boundary moves at a time. Where it moves, the provider's prompt cache ends: so it stays put until half of
 * what is kept has come in anew.
 */
export const pruneStep = ({ keepRecentTokens }: PruneSettings): number =>
  Math.max(minStepTokens, Math.floor(getKept(keepRecentTokens) / 2));

const getKept = (tokens: number): number => (tokens > 0 ? tokens : 0);

/**
 * The token before which results are left out: a multiple of the step, and 0 where less than the kept tokens and a step
 * have been answered. It depends on nothing but the messages, so it is the same after a restart, and it only moves
 * forward while a transcript grows: over `n` tokens it has at most `n / step + 1` places.
 *
 * What came after the last answer has not been seen by the model yet, so it does not count: a result, however large its
 * turn, is sent at least once.
 */
export const pruneBoundary = (messages: readonly AgentMessage[], settings: PruneSettings): number =>
  boundaryIn(measure(messages), settings);

function boundaryIn(walk: Walk | undefined, settings: PruneSettings): number {
  const step = pruneStep(settings);
  const answered = walk?.answered.at(-1) ?? 0;
  return Math.max(0, Math.floor((answered - getKept(settings.keepRecentTokens)) / step)) * step;
}

/**
 * The messages with every result that ends before the boundary replaced by a sentence. Nothing else is touched: calls
 * keep their results, and a result its ids, its details and whether it is an error. One that is shorter than the
 * sentence stays. The same array when nothing is left out.
 */
export function pruneMessages(messages: readonly AgentMessage[], settings: PruneSettings): readonly AgentMessage[] {
  const walk = settings.enabled ? measure(messages) : undefined;
  const boundary = boundaryIn(walk, settings);
  if (!walk || boundary === 0) return messages;
  if (walk.sent?.boundary !== boundary) walk.sent = { boundary, ...prunedBefore(boundary, walk) };
  const { isPruned, messages: sent } = walk.sent;
  return isPruned ? [...sent, ...messages.slice(sent.length)] : messages;
}

/** Made where the boundary moves, and good until it moves again. */
function prunedBefore(boundary: number, { messages, ends }: Walk): Omit<NonNullable<Walk["sent"]>, "boundary"> {
  const after = ends.findIndex((end) => end > boundary);
  const before = messages.slice(0, after < 0 ? undefined : after);
  const pruned = before.map((message) => (message.role === "toolResult" ? shortened(message) : message));
  return { isPruned: pruned.some((message, at) => message !== before[at]), messages: pruned };
}

type ToolResult = Extract<AgentMessage, { role: "toolResult" }>;

/** The same message each time, so that what is remembered of it further on stays good. */
const replacements = new WeakMap<ToolResult, { content: unknown; short: ToolResult }>();

function shortened(message: ToolResult): ToolResult {
  const known = replacements.get(message);
  if (known && known.content === getContent(message)) return known.short;
  const short = withoutContent(message);
  replacements.set(message, { content: getContent(message), short });
  return short;
}

function withoutContent(message: ToolResult): ToolResult {
  const text = sentence(toText(message.toolName));
  return isShort(message.content, text.length) ? message : { ...message, content: [{ type: "text", text }] };
}

const sentence = (toolName: string) =>
  `[This old result${toolName && ` of ${toolName.slice(0, 64).toWellFormed()}`} was left out. If you need it, make the call again.]`;

/** Content of logs is not checked and may be anything. */
function isShort(content: unknown, length: number): boolean {
  if (!Array.isArray(content)) return toText(content).length <= length;
  let text = 0;
  for (const block of content as (Partial<TextContent> | null)[]) {
    if (block?.type !== "text") return false;
    text += toText(block.text).length;
  }
  return text <= length;
}
