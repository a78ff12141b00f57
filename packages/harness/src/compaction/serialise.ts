/** A conversation as plain text, so that the model which reads it writes about it and does not go on with it. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { ToolCall } from "@tau/ai";
import { convertToLlm } from "../session/message.ts";
import { getToolCalls } from "./files.ts";
import { cutMiddle, toText } from "./text.ts";

export interface SerialiseOptions {
  /** Characters of a result, and of one argument of a call, that are shown. The rest is named by its length. */
  maxOutputLength: number;
}

/** One text a message. Messages that the model is never told are left out, and so is thinking. */
export function serialise(messages: readonly AgentMessage[], { maxOutputLength }: SerialiseOptions): string[] {
  return messages.flatMap((message) => {
    const text = getText(message, maxOutputLength);
    return text === "" ? [] : [text];
  });
}

function getText(message: AgentMessage, maxOutputLength: number): string {
  const [sent] = convertToLlm([message]);
  switch (sent?.role) {
    case "user": {
      const text = plainText(sent.content);
      return titled("person", message.role === "bashExecution" ? cutMiddle(text, maxOutputLength) : text);
    }
    case "assistant": {
      const said = plainText(sent.content);
      const calls = getToolCalls(sent).map((call) => callText(call, maxOutputLength));
      const parts = said !== "" || calls.length === 0 ? [titled("assistant", said), ...calls] : calls;
      if (sent.stopReason === "error" || sent.stopReason === "aborted") parts.push(`[${sent.stopReason}]`);
      return parts.join("\n");
    }
    case "toolResult": {
      const title = `${sent.isError ? "failed result" : "result"} of ${toText(sent.toolName)}`;
      return titled(title, cutMiddle(plainText(sent.content), maxOutputLength));
    }
    default:
      return "";
  }
}

const titled = (who: string, text: string) => `[${who}]\n${text || "(no words)"}`;

/** The words of a message, and where pictures were. Content that came from a log may be anything. */
export function plainText(content: unknown): string {
  if (typeof content === "string") return content.trim();
  const blocks: ({ type?: unknown; text?: unknown } | null)[] = Array.isArray(content) ? content : [];
  const parts = blocks.flatMap((block) => {
    if (block?.type === "image") return "(image)";
    return block?.type === "text" && typeof block.text === "string" ? block.text : [];
  });
  return parts.join("\n").trim();
}

function callText({ name, arguments: given }: ToolCall, most: number): string {
  const shown = Object.entries(given ?? {}).map(
    ([key, value]) => `${key}=${cutMiddle(JSON.stringify(value) ?? "", most)}`,
  );
  return `[assistant calls ${toText(name)}] ${shown.join(" ")}`.trimEnd();
}

/**
 * As many texts from the front as fit into `most` characters, and what is left. The first one is split when it alone
 * does not fit, so something is always taken.
 */
export function takePiece(texts: readonly string[], most: number): { piece: string; rest: string[] } {
  let length = 0;
  let count = 0;
  while (count < texts.length && length + texts[count]!.length <= most) length += texts[count++]!.length + 2;
  if (count > 0 || texts.length === 0) return { piece: texts.slice(0, count).join("\n\n"), rest: texts.slice(count) };
  const [first, ...rest] = texts as [string, ...string[]];
  const at = splitAt(first, Math.max(2, most));
  return { piece: first.slice(0, at), rest: [first.slice(at), ...rest] };
}

/** At the end of a line where one is near, and never inside a character. */
function splitAt(text: string, most: number): number {
  const line = text.lastIndexOf("\n", most - 1) + 1;
  if (line > most * 0.8) return line;
  return /[\ud800-\udbff]/.test(text[most - 1]!) ? most - 1 : most;
}
