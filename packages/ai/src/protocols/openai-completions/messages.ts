import {
  commonImageTypes,
  handOff,
  type HandoffRules,
  isWrittenBy,
  type PreparedUser,
  toPlainId,
} from "../../handoff.ts";
import { oncePer } from "../../internal/once.ts";
import type {
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ToolCall,
  ToolResultMessage,
} from "../../message.ts";
import { toMistralId } from "../mistral-id.ts";
import type { CompletionsModel, ResolvedCompat } from "./compat.ts";
import { parseDetails, readExtraContent, readOpaque, reasoningFields } from "./reasoning.ts";

/** A JSON object of the request: a message or a part of one. */
export type Wire = Record<string, unknown>;

/**
 * The history in OpenAI's format. `thinks`: whether thinking is on for this request. Each message is encoded once, so
 * callers must not change what they get.
 */
export function encodeHistory(model: CompletionsModel, messages: readonly Message[], thinks: boolean): Wire[] {
  const prepared = handOff(messages, model, rules[model.compat.toolCallIdFormat]);
  const encoders = getEncoders(model);
  const encodeAnswer = thinks ? encoders.thinkingAnswer : encoders.answer;
  const encoded: Wire[] = [];
  // `tool` messages can only hold text, so images follow in a user message after all results of the turn.
  let images: Wire[] = [];
  const pushImages = () => {
    if (images.length > 0) pushUser(model, encoded, { role: "user", content: images });
    images = [];
  };
  for (const message of prepared) {
    if (message.role === "toolResult") {
      const result = encoders.result(message);
      encoded.push(result.message);
      images.push(...result.images);
      continue;
    }
    pushImages();
    if (message.role === "user") pushUser(model, encoded, encoders.user(message));
    else encoded.push(...encodeAnswer(message));
  }
  pushImages();
  return encoded;
}

const getEncoders = oncePer((model: CompletionsModel) => ({
  user: oncePer(({ content }: PreparedUser): Wire => ({ role: "user", content: encodeContent(content, encodeImage) })),
  answer: oncePer((message: AssistantMessage) => encodeAssistant(model, message, false)),
  thinkingAnswer: oncePer((message: AssistantMessage) => encodeAssistant(model, message, true)),
  result: oncePer((message: ToolResultMessage) => ({
    message: encodeResult(model, message),
    images: encodeResultImages(message),
  })),
}));

/** The Responses API stores ids as `call_id|item_id`. */
const getCallId = (id: string) => id.split("|", 1)[0]!;

const createRules = (toolCallId: HandoffRules["toolCallId"]): HandoffRules => ({
  toolCallId,
  imageTypes: commonImageTypes,
  maxImageCharacters: 20 * 1024 * 1024,
  userFirst: true,
});

const rules: Record<ResolvedCompat["toolCallIdFormat"], HandoffRules> = {
  openai: createRules((id) => toPlainId(getCallId(id), 40)),
  mistral: createRules((id) => toMistralId(getCallId(id))),
  any: createRules(getCallId),
};

function pushUser(model: CompletionsModel, encoded: Wire[], message: Wire): void {
  if (model.compat.requiresAssistantAfterToolResult && encoded.at(-1)?.["role"] === "tool") {
    encoded.push({ role: "assistant", content: "I have read the results." });
  }
  encoded.push(message);
}

function encodeResultImages({ content, toolName, toolCallId }: ToolResultMessage): Wire[] {
  const images = content.filter((block) => block.type === "image").map(encodeImage);
  return images.length === 0 ? [] : [{ type: "text", text: `Shown by ${toolName} (${toolCallId}):` }, ...images];
}

/** A single text block is sent as a string, which every server accepts. */
export function encodeContent(
  content: readonly (TextContent | ImageContent)[],
  toImage: (image: ImageContent) => Wire,
): string | Wire[] {
  const [first] = content;
  if (content.length === 1 && first?.type === "text") return first.text;
  return content.map((block) => (block.type === "text" ? { type: "text", text: block.text } : toImage(block)));
}

const encodeImage = (image: ImageContent): Wire => ({
  type: "image_url",
  image_url: { url: `data:${image.mimeType};base64,${image.data}` },
});

function encodeResult(model: CompletionsModel, result: ToolResultMessage): Wire {
  const texts = result.content.filter((block) => block.type === "text").map((block) => block.text);
  return {
    role: "tool",
    content: texts.length > 0 ? texts.join("\n") : "(the images follow)",
    tool_call_id: result.toolCallId,
    ...(model.compat.requiresToolResultName && { name: result.toolName }),
  };
}

function encodeAssistant(model: CompletionsModel, message: AssistantMessage, thinks: boolean): Wire[] {
  const { requiresThinkingAsText, requiresAssistantAfterToolResult } = model.compat;
  const calls = message.content.filter((block) => block.type === "toolCall");
  const texts = message.content.flatMap((block) => {
    if (block.type === "text") return [block.text];
    return requiresThinkingAsText && block.type === "thinking" && block.thinking.trim()
      ? [`${block.thinking}\n\n`]
      : [];
  });
  // This model's text was one stream. Blocks of another model, including thinking turned into text, were separate.
  const content = texts.join(isWrittenBy(message, model) ? "" : "\n\n");
  // Servers reject an assistant message without text or tool calls.
  if (content.trim() === "" && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: content || (requiresAssistantAfterToolResult ? "" : null),
      ...(calls.length > 0 && {
        tool_calls: calls.map((call) => ({ ...encodeCall(call), ...readExtraContent(call.thoughtSignature) })),
      }),
      ...(!requiresThinkingAsText && encodeThoughts(model, message, thinks)),
    },
  ];
}

export const encodeCall = ({ id, name, arguments: args }: ToolCall): Wire => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
});

/**
 * Thinking is sent back as it was received: as `reasoning_details` if there are any, else in the same text field, with
 * `reasoning_opaque` if there is one.
 */
function encodeThoughts(model: CompletionsModel, message: AssistantMessage, thinks: boolean): Wire {
  const required = model.compat.requiresReasoningContentOnAssistantMessages;
  const empty = required && thinks ? { reasoning_content: "" } : {};
  const details = message.content.flatMap((block) => {
    if (block.type === "thinking") return parseDetails(block.thinkingSignature);
    // The detail of a call holds the id of the call, which may have been rewritten.
    return block.type === "text"
      ? []
      : parseDetails(block.thoughtSignature).map((detail) => ({ ...detail, id: block.id }));
  });
  if (details.length > 0) return { ...empty, reasoning_details: details };
  const thoughts = message.content
    .filter((block) => block.type === "thinking")
    .filter(({ thinking }) => thinking.trim() !== "");
  const opaque = message.content
    .map((block) => (block.type === "thinking" ? readOpaque(block.thinkingSignature) : ""))
    .findLast(Boolean);
  if (opaque !== undefined) {
    const text = thoughts.map(({ thinking }) => thinking).join("\n");
    return { ...empty, ...(text && { reasoning_text: text }), reasoning_opaque: opaque };
  }
  const field = thoughts[0]?.thinkingSignature;
  if (field === undefined || !reasoningFields.includes(field)) return empty;
  return {
    ...empty,
    [required ? "reasoning_content" : field]: thoughts.map(({ thinking }) => thinking).join("\n"),
  };
}
