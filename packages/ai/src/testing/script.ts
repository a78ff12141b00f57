import type { AssistantMessage, TextContent, ThinkingContent, ToolCall } from "../message.ts";

/** An answer of a scripted model or server, independent of any provider. */
export interface ScriptedAnswer {
  content: AssistantMessage["content"];
  /** Default: `toolUse` if there are calls, else `stop`. */
  stopReason?: "stop" | "length" | "toolUse" | "refused";
  usage?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number; reasoning?: number };
  /** Default `answer-1`, `answer-2`, … */
  id?: string;
  /** The model that answers. Default: the requested one. */
  model?: string;
}

export const text = (content: string): TextContent => ({ type: "text", text: content });

export const thinking = (content: string, signature?: string): ThinkingContent => ({
  type: "thinking",
  thinking: content,
  ...(signature !== undefined && { thinkingSignature: signature }),
});

/** A tool call. The default id is derived from its name and the number of arguments, and is unique in its turn. */
export const call = (name: string, args: ToolCall["arguments"] = {}, id?: string): ToolCall => ({
  type: "toolCall",
  id: id ?? getDefaultId(name, args),
  name,
  arguments: args,
});

const getDefaultId = (name: string, args: ToolCall["arguments"]) => `call_${name}_${Object.keys(args).length}`;

/** Numbers calls of one turn that have the same default id. An id that was given stays, also if two calls have it. */
export function withUniqueIds(content: AssistantMessage["content"]): AssistantMessage["content"] {
  const counts = new Map<string, number>();
  return content.map((block) => {
    if (block.type !== "toolCall" || block.id !== getDefaultId(block.name, block.arguments)) return block;
    const count = (counts.get(block.id) ?? 0) + 1;
    counts.set(block.id, count);
    return count === 1 ? block : { ...block, id: `${block.id}_${count}` };
  });
}

export const getStopReason = (answer: ScriptedAnswer): NonNullable<ScriptedAnswer["stopReason"]> =>
  answer.stopReason ?? (answer.content.some((block) => block.type === "toolCall") ? "toolUse" : "stop");

/** Splits a text into deltas of a few characters, never inside a surrogate pair. */
export const splitText = (content: string): string[] => content.match(/.{1,7}/gsu) ?? [];
