/** Divides what the next request takes among what it is made of. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { SessionEntry } from "@tau/protocol";

export interface ContextContent {
  /** The whole prompt, with the instructions in it. */
  readonly systemPrompt: string;
  readonly instructions: readonly TextFile[];
  readonly tools: readonly ContextTool[];
  readonly messages: readonly unknown[];
  /** The last count of the provider, with an estimate of what came after it. Undefined before the first answer. */
  readonly countedTokens?: number;
  /** Undefined without a model whose window is known. */
  readonly windowTokens?: number;
}

interface TextFile {
  readonly path: string;
  readonly content: string;
}

interface ContextTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

export const partNames = ["system", "tools", "instructions", "memory", "messages"] as const;

export type PartName = (typeof partNames)[number];

export interface MeasuredContext {
  readonly parts: Readonly<Record<PartName, number>>;
  /** The files of instructions, in their order. */
  readonly files: readonly { readonly path: string; readonly tokens: number }[];
  readonly totalTokens: number;
  readonly isCounted: boolean;
  readonly windowTokens: number | undefined;
}

const charactersPerToken = 4;
/** An upper estimate: providers scale images down. */
const imageTokens = 1_200;

/** The custom messages of the feature `memory`. */
const memoryType = "memory";

/** Where the provider has counted, the estimates of the parts are scaled so that they add up to its number. */
export function measureContext(content: ContextContent): MeasuredContext {
  const { systemPrompt, instructions, tools, messages, countedTokens, windowTokens } = content;
  const files = instructions.map(({ path, content: text }) => ({ path, tokens: estimateText(text.trim()) }));
  const instructed = sum(files.map(({ tokens }) => tokens));
  const isMemory = (message: unknown) => isRecord(message) && message["customType"] === memoryType;
  const estimates: Record<PartName, number> = {
    system: Math.max(0, estimateText(systemPrompt) - instructed),
    tools: sum(tools.map(({ name, description, parameters }) => estimateJson({ name, description, parameters }))),
    instructions: instructed,
    memory: sum(messages.filter(isMemory).map(estimateMessage)),
    messages: sum(messages.filter((message) => !isMemory(message)).map(estimateMessage)),
  };
  const estimated = sum(Object.values(estimates));
  const totalTokens = countedTokens ?? estimated;
  const scale = (tokens: number) => (estimated === 0 ? 0 : Math.round((tokens * totalTokens) / estimated));
  const parts = Object.fromEntries(partNames.map((name) => [name, scale(estimates[name])])) as Record<PartName, number>;
  // What rounding has moved is never more than a few tokens.
  parts.messages = Math.max(0, parts.messages + totalTokens - sum(Object.values(parts)));
  return {
    parts,
    files: files.map(({ path, tokens }) => ({ path, tokens: scale(tokens) })),
    totalTokens,
    isCounted: countedTokens !== undefined,
    windowTokens,
  };
}

/** Whether a provider has counted the context as it is now: since the last compaction and the last edit of an entry. */
export function isCounted(branch: readonly SessionEntry[]): boolean {
  const last = branch.findLast(
    (entry) => entry.type === "compaction" || entry.type === "context_edit" || countsTokens(entry),
  );
  return last?.type === "message";
}

function countsTokens(entry: SessionEntry): boolean {
  if (entry.type !== "message" || entry.message.role !== "assistant") return false;
  const { stopReason, usage } = entry.message;
  return stopReason !== "error" && stopReason !== "aborted" && usage.totalTokens > 0;
}

/** Estimates a message of any role. Content from a log is not validated. */
function estimateMessage(message: unknown): number {
  if (!isRecord(message) || message["excludeFromContext"] === true) return 0;
  const { content, summary, command, output } = message;
  const blocks = Array.isArray(content) ? sum(content.map(estimateBlock)) : estimateText(content);
  return blocks + estimateText(summary) + estimateText(command) + estimateText(output);
}

function estimateBlock(block: unknown): number {
  if (!isRecord(block)) return 0;
  const { type, text, thinking, redacted, thinkingSignature, name, arguments: args } = block;
  if (type === "image") return imageTokens;
  if (type === "toolCall") return estimateText(name) + estimateJson(args ?? {});
  if (type === "thinking") return estimateText(redacted === true ? thinkingSignature : thinking);
  return estimateText(text);
}

const estimateText = (text: unknown): number =>
  typeof text === "string" ? Math.ceil(text.length / charactersPerToken) : 0;

const estimateJson = (value: unknown): number => estimateText(JSON.stringify(value));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
