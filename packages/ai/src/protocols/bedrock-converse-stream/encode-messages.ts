import { commonImageTypes, handOff, type HandoffRules, toPlainId } from "../../handoff.ts";
import type { AssistantMessage, ImageContent, Message, TextContent, ToolResultMessage } from "../../message.ts";
import type { Model } from "../../model.ts";
import { type Block, encodeTurns, separateImages, type Turn } from "../turns.ts";
import type { Family } from "./families.ts";

export type CachePoint = { cachePoint: { type: "default"; ttl?: "1h" } };

const rules: HandoffRules = {
  toolCallId: (id) => toPlainId(id, 64),
  imageTypes: commonImageTypes,
  // 3.75 MB, counted in base64.
  maxImageCharacters: 5 * 1024 * 1024,
  userFirst: true,
  // Newer models reject a history that ends with an assistant message.
  userLast: true,
};

/** The history with consecutive messages of one role merged. */
export function encodeMessages(history: readonly Message[], model: Model, family: Family): Turn[] {
  const turns = encodeTurns(handOff(history, model, rules), {
    message: (message) =>
      message.role === "user"
        ? message.content.map(encodeContent)
        : message.content.flatMap((block) => encodeAssistantBlock(block, family)),
    result: (message) => encodeResult(message, family),
  });
  return family.separatesTools ? turns.flatMap(separateTools) : turns;
}

function encodeResult(message: ToolResultMessage, family: Family): { result: Block; images: Block[] } {
  const isTextOnly = message.isError && !family.imagesInErrors;
  const { content, images } = isTextOnly ? separateImages(message.content) : { ...message, images: [] };
  const status = message.isError && { status: "error" };
  const result = { toolResult: { toolUseId: message.toolCallId, content: content.map(encodeContent), ...status } };
  const caption = { text: `Images of the failed call of ${message.toolName}:` };
  return { result, images: images.length > 0 ? [caption, ...images.map(encodeContent)] : [] };
}

/** Splits a turn with both tool blocks and others in two, with a short turn of the other role between them. */
function separateTools({ role, content }: Turn): Turn[] {
  const tools = content.filter(isToolBlock);
  const others = content.filter((block) => !isToolBlock(block));
  if (tools.length === 0 || others.length === 0) return [{ role, content }];
  // Results must directly follow their calls, so results come first and calls last.
  const [first, last] = role === "user" ? [tools, others] : [others, tools];
  const filler: Turn = { role: role === "user" ? "assistant" : "user", content: [{ text: "(continued)" }] };
  return [{ role, content: first }, filler, { role, content: last }];
}

const isToolBlock = (block: Block): boolean => block["toolUse"] !== undefined || block["toolResult"] !== undefined;

const encodeContent = (block: TextContent | ImageContent): Block =>
  block.type === "text"
    ? { text: block.text }
    : { image: { format: block.mimeType.replace("image/", ""), source: { bytes: block.data } } };

function encodeAssistantBlock(block: AssistantMessage["content"][number], family: Family): Block[] {
  switch (block.type) {
    case "text":
      return encodeText(block.text);
    case "toolCall":
      return [{ toolUse: { toolUseId: block.id, name: block.name, input: withoutEmptyKeys(block.arguments) } }];
    case "thinking": {
      const { thinking, thinkingSignature: signature, redacted } = block;
      if (redacted) return signature ? [{ reasoningContent: { redactedContent: signature } }] : [];
      if (thinking.trim() === "" && !(family.signsThinking && signature)) return [];
      if (!family.signsThinking) return [{ reasoningContent: { reasoningText: { text: thinking } } }];
      return signature
        ? [{ reasoningContent: { reasoningText: { text: thinking, signature } } }]
        : encodeText(thinking);
    }
  }
}

/** The API rejects blank text. */
const encodeText = (text: string): Block[] => (text.trim() === "" ? [] : [{ text }]);

/** The API rejects arguments with an empty property name. */
function withoutEmptyKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "");
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutEmptyKeys(inner)]));
}
