/** A conversation as text, so that a model sums it up instead of continuing it. */
import type { Message, ToolCall } from "@tau/ai";
import { contentText } from "../../pi-ai/content.ts";

const maxResultLength = 2_000;

export const serializeConversation = (messages: readonly Message[]): string =>
  messages.flatMap((message) => describe(message)).join("\n\n");

function describe(message: Message): string[] {
  switch (message.role) {
    case "user":
      return titled("User", contentText(message.content, ""));
    case "toolResult":
      return titled("Tool result", cut(contentText(message.content, "")));
    case "assistant": {
      const thinking = message.content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []));
      const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [formatCall(block)] : []));
      return [
        ...titled("Assistant thinking", thinking.join("\n")),
        ...(message.content.some(({ type }) => type === "text")
          ? [`[Assistant]: ${contentText(message.content)}`]
          : []),
        ...titled("Assistant tool calls", calls.join("; ")),
      ];
    }
    default:
      return [];
  }
}

const titled = (title: string, text: string): string[] => (text === "" ? [] : [`[${title}]: ${text}`]);

const formatCall = ({ name, arguments: args }: ToolCall): string =>
  `${name}(${Object.entries(args)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(", ")})`;

const cut = (text: string): string =>
  text.length <= maxResultLength
    ? text
    : `${text.slice(0, maxResultLength).toWellFormed()}\n\n[... ${text.length - maxResultLength} more characters truncated]`;
