/**
 * Reads a stored message that may be damaged: files are edited by hand, truncated by crashes and written by other
 * programs. Parts that cannot be read are left out. Pure; never throws.
 */
import { toShortHash } from "./hash.ts";
import type { AssistantMessage, ImageContent, Message, TextContent, ToolCall } from "./message.ts";
import { asString, isRecord, tryParseJson } from "./json.ts";
import { isTooDeep } from "./protocols/streaming-json.ts";

/** The readable parts of the message; undefined if it is not a message. `position` is its index in the history. */
export function readStoredMessage(stored: unknown, position: number): Message | undefined {
  if (!isRecord(stored)) return undefined;
  switch (stored["role"]) {
    case "user":
      return { ...(stored as unknown as Message & { role: "user" }), content: readContent(stored["content"]) };
    case "assistant": {
      const content = toBlocks(stored["content"]).flatMap((block, index) => readBlock(block, `${position}.${index}`));
      return { ...(stored as unknown as AssistantMessage), content };
    }
    case "toolResult":
      return {
        ...(stored as unknown as Message & { role: "toolResult" }),
        toolCallId: asString(stored["toolCallId"]),
        content: readContent(stored["content"]),
        isError: stored["isError"] === true,
      };
    default:
      return undefined;
  }
}

function readContent(content: unknown): (TextContent | ImageContent)[] {
  return toBlocks(content).flatMap((block): (TextContent | ImageContent)[] => {
    if (!isRecord(block)) return [];
    if (block["type"] === "text" && typeof block["text"] === "string") return [block as unknown as TextContent];
    if (block["type"] !== "image") return [];
    return [
      { ...(block as unknown as ImageContent), data: asString(block["data"]), mimeType: asString(block["mimeType"]) },
    ];
  });
}

/** `location` is the block's position in the history, from which a missing call id is derived. */
function readBlock(block: unknown, location: string): AssistantMessage["content"] {
  if (!isRecord(block)) return [];
  switch (block["type"]) {
    case "text":
      return typeof block["text"] === "string" ? [block as unknown as TextContent] : [];
    case "thinking":
      return [{ ...(block as { type: "thinking" }), thinking: asString(block["thinking"]) }];
    case "toolCall": {
      const { via, ...call } = block as unknown as ToolCall;
      return [
        {
          ...call,
          ...(typeof via === "string" && via !== "" && { via }),
          id: asString(block["id"]) || `call_${toShortHash(location)}`,
          name: asString(block["name"]),
          arguments: readArguments(block["arguments"]),
        },
      ];
    }
    default:
      return [];
  }
}

/** Arguments are an object; some programs store them as JSON text. */
function readArguments(stored: unknown): ToolCall["arguments"] {
  const value = typeof stored === "string" ? tryParseJson(stored) : stored;
  return isRecord(value) && !isTooDeep(value) ? value : {};
}

/** A string counts as one text block. */
const toBlocks = (content: unknown): unknown[] =>
  Array.isArray(content) ? content : typeof content === "string" ? [{ type: "text", text: content }] : [];
