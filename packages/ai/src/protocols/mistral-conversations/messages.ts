import type { Context } from "../../context.ts";
import { commonImageTypes, handOff, type HandoffRules } from "../../handoff.ts";
import type { AssistantMessage, ImageContent, ThinkingContent } from "../../message.ts";
import type { Model } from "../../model.ts";
import { toMistralId } from "../mistral-id.ts";
import { encodeCall, encodeContent, type Wire } from "../openai-completions/messages.ts";

const rules: HandoffRules = {
  toolCallId: toMistralId,
  imageTypes: commonImageTypes,
  // 10 MB, counted in base64.
  maxImageCharacters: Math.floor((10 * 1024 * 1024) / 3) * 4,
  userFirst: true,
};

export function encodeMessages(model: Model, context: Context): Wire[] {
  const encoded: Wire[] = [];
  if (context.systemPrompt?.trim()) encoded.push({ role: "system", content: context.systemPrompt.toWellFormed() });
  for (const message of handOff(context.messages, model, rules)) {
    switch (message.role) {
      case "user":
        // The API rejects a user message right after a tool result.
        if (encoded.at(-1)?.["role"] === "tool") encoded.push(createAssistant("I have read the results."));
        encoded.push({ role: "user", content: encodeContent(message.content, encodeImage) });
        break;
      case "assistant":
        encoded.push(...encodeAssistant(message));
        break;
      case "toolResult":
        encoded.push({
          role: "tool",
          tool_call_id: message.toolCallId,
          name: message.toolName,
          content: encodeContent(message.content, encodeImage),
        });
    }
  }
  const last = encoded.at(-1);
  // The last message may only be from the assistant if it is marked as the prefix of the answer.
  if (last?.["role"] === "assistant") last["prefix"] = true;
  return encoded;
}

const createAssistant = (content: string | Wire[] | undefined): Wire => ({
  role: "assistant",
  ...(content !== undefined && { content }),
  prefix: false,
});

const encodeImage = (image: ImageContent): Wire => ({
  type: "image_url",
  image_url: `data:${image.mimeType};base64,${image.data}`,
});

function encodeAssistant(message: AssistantMessage): Wire[] {
  const texts = message.content.filter((block) => block.type === "text");
  const calls = message.content.filter((block) => block.type === "toolCall");
  // The API rejects an assistant message with only thinking.
  if (texts.length === 0 && calls.length === 0) return [];
  const thinking = encodeThinking(message.content.filter((block) => block.type === "thinking"));
  const text = texts.length > 0 ? encodeContent(texts, encodeImage) : [];
  const content = thinking.length === 0 && text.length > 0 ? text : [...thinking, ...toChunks(text)];
  return [
    {
      ...createAssistant(content.length > 0 ? content : undefined),
      ...(calls.length > 0 && { tool_calls: calls.map((call, index) => ({ ...encodeCall(call), index })) }),
    },
  ];
}

const toChunks = (content: string | Wire[]): Wire[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

/** All thinking of an answer as one chunk before its text: the API rejects several. */
function encodeThinking(blocks: readonly ThinkingContent[]): Wire[] {
  const thinking = blocks.filter((block) => block.thinking.trim() !== "").map((block) => block.thinking);
  const signature = blocks.findLast((block) => block.thinkingSignature)?.thinkingSignature;
  if (thinking.length === 0 && signature === undefined) return [];
  return [
    {
      type: "thinking",
      thinking: thinking.map((content) => ({ type: "text", text: content })),
      ...(signature !== undefined && { signature }),
    },
  ];
}
