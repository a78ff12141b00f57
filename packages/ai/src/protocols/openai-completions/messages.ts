import { commonImageTypes, handOff, isFrom, plainId, type PreparedMessage } from "../../handoff.ts";
import { shortHash } from "../../hash.ts";
import type { AssistantMessage, ImageContent, Message, TextContent, ToolResultMessage } from "../../message.ts";
import type { CompletionsModel, ResolvedCompat } from "./compat.ts";
import { parseDetails, type ReasoningDetail, reasoningFields } from "./reasoning.ts";

/** A message or a part of one, as it goes over the wire. */
export type Wire = Record<string, unknown>;

/** The history in OpenAI's terms. `thinks` says whether this request has thinking on. */
export function encodeHistory(model: CompletionsModel, messages: readonly Message[], thinks: boolean): Wire[] {
  const prepared = handOff(messages, model, {
    toolCallId: toolCallIds[model.compat.toolCallIdFormat],
    imageTypes: commonImageTypes,
    maxImageCharacters: 20 * 1024 * 1024,
    userFirst: true,
  });
  const encoded: Wire[] = [];
  prepared.forEach((message, at) => {
    if (message.role === "user") pushUser(model, encoded, encodeContent(message.content));
    else if (message.role === "assistant") encoded.push(...encodeAssistant(model, message, thinks));
    else {
      encoded.push(encodeResult(model, message));
      if (prepared[at + 1]?.role !== "toolResult") pushImages(model, encoded, resultsUntil(prepared, at));
    }
  });
  return encoded;
}

/** The Responses API stores two ids in one, of which the first is the call's. */
const callPart = (id: string) => id.split("|", 1)[0]!;

const fortyCharacters = plainId(40);

const toolCallIds: Record<ResolvedCompat["toolCallIdFormat"], (id: string) => string> = {
  openai: (id) => fortyCharacters(callPart(id)),
  mistral: (id) => (/^[a-zA-Z0-9]{9}$/.test(callPart(id)) ? callPart(id) : shortHash(callPart(id)).slice(0, 9)),
  any: callPart,
};

/** The results of one turn, of which the one at `last` is the last. */
function resultsUntil(prepared: readonly PreparedMessage[], last: number): ToolResultMessage[] {
  const before = prepared.findLastIndex(({ role }, at) => at < last && role !== "toolResult");
  return prepared.slice(before + 1, last + 1).filter((message) => message.role === "toolResult");
}

function pushUser(model: CompletionsModel, encoded: Wire[], content: string | Wire[]): void {
  if (model.compat.requiresAssistantAfterToolResult && encoded.at(-1)?.["role"] === "tool") {
    encoded.push({ role: "assistant", content: "I have read the results." });
  }
  encoded.push({ role: "user", content });
}

/** A tool's message holds text only, so images follow as the user's, once all the results are there. */
function pushImages(model: CompletionsModel, encoded: Wire[], results: readonly ToolResultMessage[]): void {
  const parts = results.flatMap((result): Wire[] => {
    const images = result.content.filter((block) => block.type === "image");
    const caption = { type: "text", text: `Shown by ${result.toolName} (${result.toolCallId}):` };
    return images.length === 0 ? [] : [caption, ...images.map(encodeImage)];
  });
  if (parts.length > 0) pushUser(model, encoded, parts);
}

/** A single text stays a plain string: every server understands that. */
function encodeContent(content: readonly (TextContent | ImageContent)[]): string | Wire[] {
  const [first] = content;
  if (content.length === 1 && first?.type === "text") return first.text;
  return content.map((block) => (block.type === "text" ? { type: "text", text: block.text } : encodeImage(block)));
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
  // Its own words were one stream; another model's blocks, and thoughts that became text, were not.
  const content = texts.join(isFrom(message, model) ? "" : "\n\n");
  // Servers want words or calls; thinking alone is neither.
  if (content.trim() === "" && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: content || (requiresAssistantAfterToolResult ? "" : null),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, arguments: args }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(args) },
        })),
      }),
      ...(!requiresThinkingAsText && encodeThoughts(model, message, thinks)),
    },
  ];
}

/** Thinking goes back as it came: as details where there are any, else in the field that it came in. */
function encodeThoughts(model: CompletionsModel, message: AssistantMessage, thinks: boolean): Wire {
  const required = model.compat.requiresReasoningContentOnAssistantMessages;
  const empty = required && thinks ? { reasoning_content: "" } : {};
  const details = message.content.flatMap(storedDetails);
  if (details.length > 0) return { ...empty, reasoning_details: details };
  const thoughts = message.content
    .filter((block) => block.type === "thinking")
    .filter(({ thinking }) => thinking.trim() !== "");
  const field = thoughts[0]?.thinkingSignature;
  if (field === undefined || !reasoningFields.includes(field)) return empty;
  return {
    ...empty,
    [required ? "reasoning_content" : field]: thoughts.map(({ thinking }) => thinking).join("\n"),
  };
}

function storedDetails(block: AssistantMessage["content"][number]): ReasoningDetail[] {
  switch (block.type) {
    case "text":
      return [];
    case "thinking":
      return parseDetails(block.thinkingSignature);
    case "toolCall":
      // The detail names its call, whose id may have been rewritten since.
      return parseDetails(block.thoughtSignature).map((detail) => ({ ...detail, id: block.id }));
  }
}
