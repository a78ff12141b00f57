import type { AssistantMessage, TextContent, ThinkingContent, ToolCall } from "../message.ts";

/** What a scripted model or server is to say, in no provider's terms. */
export interface ScriptedAnswer {
  content: AssistantMessage["content"];
  /** Default: `toolUse` when there are calls, else `stop`. */
  stopReason?: "stop" | "length" | "toolUse" | "refused";
  usage?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number; reasoning?: number };
  /** Default `answer-1`, `answer-2`, … */
  id?: string;
  /** The model that answers. Default: the one that was asked. */
  model?: string;
}

export const text = (content: string): TextContent => ({ type: "text", text: content });

export const thinking = (content: string, signature?: string): ThinkingContent => ({
  type: "thinking",
  thinking: content,
  ...(signature !== undefined && { thinkingSignature: signature }),
});

/** A tool call. Without an id it gets one from its name and arguments, so that scripts stay readable. */
export const call = (name: string, args: ToolCall["arguments"] = {}, id?: string): ToolCall => ({
  type: "toolCall",
  id: id ?? `call_${name}_${Object.keys(args).length}`,
  name,
  arguments: args,
});

export const getStopReason = (answer: ScriptedAnswer): NonNullable<ScriptedAnswer["stopReason"]> =>
  answer.stopReason ?? (answer.content.some((block) => block.type === "toolCall") ? "toolUse" : "stop");

/** Cuts a text as a model would send it: a few characters at a time, never inside a surrogate pair. */
export function pieces(content: string, size = 7): string[] {
  const characters = [...content];
  const cut: string[] = [];
  for (let at = 0; at < characters.length; at += size) cut.push(characters.slice(at, at + size).join(""));
  return cut;
}
