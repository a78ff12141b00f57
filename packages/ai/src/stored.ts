/**
 * Reads a stored message as it is found, not as it should be: files are edited by hand, cut by crashes and written by
 * other programs. What cannot be read is left out, alone. Pure; never throws.
 */
import { shortHash } from "./hash.ts";
import type { AssistantMessage, ImageContent, Message, TextContent, ToolCall } from "./message.ts";
import { isTooDeep } from "./protocols/streaming-json.ts";
import { isRecord } from "./is-record.ts";

/** The message with only what can be used of it; undefined when that is nothing. */
export function readStoredMessage(stored: unknown, position: number): Message | undefined {
  if (!isRecord(stored)) return undefined;
  switch (stored["role"]) {
    case "user":
      return { ...(stored as unknown as Message & { role: "user" }), content: readContent(stored["content"]) };
    case "assistant": {
      const content = asList(stored["content"]).flatMap((block, at) => readBlock(block, `${position}.${at}`));
      return { ...(stored as unknown as AssistantMessage), content };
    }
    case "toolResult":
      return {
        ...(stored as unknown as Message & { role: "toolResult" }),
        toolCallId: asText(stored["toolCallId"]),
        content: readContent(stored["content"]),
        isError: stored["isError"] === true,
      };
    default:
      return undefined;
  }
}

function readContent(content: unknown): (TextContent | ImageContent)[] {
  return asList(content).flatMap((block): (TextContent | ImageContent)[] => {
    if (!isRecord(block)) return [];
    if (block["type"] === "text" && typeof block["text"] === "string") return [block as unknown as TextContent];
    if (block["type"] !== "image") return [];
    return [
      { ...(block as unknown as ImageContent), data: asText(block["data"]), mimeType: asText(block["mimeType"]) },
    ];
  });
}

function readBlock(block: unknown, place: string): AssistantMessage["content"] {
  if (!isRecord(block)) return [];
  switch (block["type"]) {
    case "text":
      return typeof block["text"] === "string" ? [block as unknown as TextContent] : [];
    case "thinking":
      return [{ ...(block as { type: "thinking" }), thinking: asText(block["thinking"]) }];
    case "toolCall":
      return [
        {
          ...(block as unknown as ToolCall),
          id: asText(block["id"]) || `call_${shortHash(place)}`,
          name: asText(block["name"]),
          arguments: readArguments(block["arguments"]),
        },
      ];
    default:
      return [];
  }
}

/** Arguments are an object; some programs store their JSON text. */
function readArguments(given: unknown): ToolCall["arguments"] {
  const value = typeof given === "string" ? parseJson(given) : given;
  return isRecord(value) && !isTooDeep(value) ? value : {};
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A text where blocks are wanted is one block of text. */
const asList = (content: unknown): unknown[] =>
  Array.isArray(content) ? content : typeof content === "string" ? [{ type: "text", text: content }] : [];

const asText = (value: unknown): string => (typeof value === "string" ? value : "");
