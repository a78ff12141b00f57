/** Turns a conversation into plain text, so that a model summarises it instead of continuing it. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { ToolCall } from "@tau/ai";
import { convertToLlm } from "../session/message.ts";
import { visitInTurns } from "../session/visit-in-turns.ts";
import { getToolCalls } from "./files.ts";
import { cutMiddle, asText } from "./text.ts";

/**
 * Returns a text for each message, without thinking and without messages that the model does not see. `maxOutputLength`
 * limits the characters of a result and of one argument of a call.
 */
export async function serialise(messages: readonly AgentMessage[], maxOutputLength: number): Promise<string[]> {
  const texts: string[] = [];
  await visitInTurns(messages, (message) => {
    const text = formatMessage(message, maxOutputLength);
    if (text !== "") texts.push(text);
  });
  return texts;
}

function formatMessage(message: AgentMessage, maxOutputLength: number): string {
  const [sent] = convertToLlm([message]);
  switch (sent?.role) {
    case "user": {
      const text = plainText(sent.content);
      return formatTitled("person", message.role === "bashExecution" ? cutMiddle(text, maxOutputLength) : text);
    }
    case "assistant": {
      const text = plainText(sent.content);
      const calls = getToolCalls(sent).map((call) => formatCall(call, maxOutputLength));
      const parts = text !== "" || calls.length === 0 ? [formatTitled("assistant", text), ...calls] : calls;
      if (sent.stopReason === "error" || sent.stopReason === "aborted") parts.push(`[${sent.stopReason}]`);
      return parts.join("\n");
    }
    case "toolResult": {
      const title = `${sent.isError ? "failed result" : "result"} of ${asText(sent.toolName)}`;
      return formatTitled(title, cutMiddle(plainText(sent.content), maxOutputLength));
    }
    default:
      return "";
  }
}

const formatTitled = (title: string, text: string) => `[${title}]\n${text || "(no text)"}`;

/** The text of a message, with a mark for each image. Content from a log is not validated. */
export function plainText(content: unknown): string {
  if (typeof content === "string") return content.trim();
  const blocks: ({ type?: unknown; text?: unknown } | null)[] = Array.isArray(content) ? content : [];
  const parts = blocks.flatMap((block) => {
    if (block?.type === "image") return "(image)";
    return block?.type === "text" && typeof block.text === "string" ? block.text : [];
  });
  return parts.join("\n").trim();
}

function formatCall(call: ToolCall, maxLength: number): string {
  const fields = Object.entries(call.arguments ?? {}).map(
    ([key, value]) => `${key}=${cutMiddle(JSON.stringify(value) ?? "", maxLength)}`,
  );
  return `[assistant calls ${asText(call.name)}] ${fields.join(" ")}`.trimEnd();
}

/** Takes as many texts as fit into `maxLength` characters. If the first text alone is too long, it is split. */
export function takePiece(texts: readonly string[], maxLength: number): { piece: string; rest: string[] } {
  let length = 0;
  let count = 0;
  while (count < texts.length && length + texts[count]!.length <= maxLength) length += texts[count++]!.length + 2;
  if (count > 0 || texts.length === 0) return { piece: texts.slice(0, count).join("\n\n"), rest: texts.slice(count) };
  const [first, ...rest] = texts as [string, ...string[]];
  const end = findSplit(first, Math.max(2, maxLength));
  return { piece: first.slice(0, end), rest: [first.slice(end), ...rest] };
}

/** The end of a line if one is near; never inside a surrogate pair. */
function findSplit(text: string, maxLength: number): number {
  const lineEnd = text.lastIndexOf("\n", maxLength - 1) + 1;
  if (lineEnd > maxLength * 0.8) return lineEnd;
  return /[\ud800-\udbff]/.test(text[maxLength - 1]!) ? maxLength - 1 : maxLength;
}
