import type { Context, Tool } from "../../context.ts";
import { commonImageTypes, handOff, type HandoffRules, toPlainId, toPlainName } from "../../handoff.ts";
import type { AssistantMessage, ImageContent, TextContent, ToolResultMessage } from "../../message.ts";
import type { Model } from "../../model.ts";
import { toJsonSchema } from "../../schema/adapt.ts";
import { getDefaultMaxTokens, thinkingLeftOutNote } from "../claude-thinking.ts";
import { createStrictNote } from "../function-tool.ts";
import { getSessionAffinityHeaders } from "../session-affinity.ts";
import type { EncodedRequest, EncodeNote } from "../protocol.ts";
import { resolveOutput } from "../output-format.ts";
import { isForced, resolveToolChoice, type ResolvedToolChoice } from "../tool-choice.ts";
import { encodeTools, createIgnoredNote, selectTools } from "../tools.ts";
import { type Block, encodeTurns, separateImages, type Turn } from "../turns.ts";
import { type AnthropicOptions, isAdaptive } from "./options.ts";

type AnthropicModel = Model<"anthropic-messages">;
type CacheControl = { type: "ephemeral"; ttl?: "1h" };

const rules: HandoffRules = {
  toolCallId: (id) => toPlainId(id, 64),
  imageTypes: commonImageTypes,
  // 5 MB, counted in base64.
  maxImageCharacters: 5 * 1024 * 1024,
  userFirst: true,
  // Newer models reject a history that ends with an assistant message.
  userLast: true,
  toolName: (name) => toPlainName(name, 128),
};

/** The tool names that the API accepts. */
const toolNamePattern = /^[a-zA-Z0-9_-]{1,128}$/;

export function encode(anyModel: Model, context: Context, options: AnthropicOptions): EncodedRequest {
  const model = anyModel as AnthropicModel;
  const notes: EncodeNote[] = [];
  const selected = selectTools(model, context.tools, notes, toolNamePattern);
  const requestedChoice = resolveToolChoice(options.toolChoice, selected, notes);
  const thinking = encodeThinking(model, options, requestedChoice, notes);
  const choice = thinking.on && isForced(requestedChoice) ? undefined : requestedChoice;
  const cache = createCacheControl(model, options);
  const tools = encodeTools(selected, (tool) => encodeTool(model, tool, notes), notes);
  const lastTool = tools.at(-1);
  if (cache && lastTool && model.compat?.supportsCacheControlOnTools !== false) lastTool["cache_control"] = cache;
  const acceptsTemperature = model.compat?.supportsTemperature !== false && !thinking.on;
  if (options.temperature !== undefined && !acceptsTemperature)
    notes.push(createIgnoredNote("temperature", thinking.on ? "thinking is on" : `${model.id} does not accept it`));
  const output = resolveOutput(options.output, { isSupported: model.compat?.supportsStrictTools === true, notes });
  const outputConfig = {
    ...(thinking.effort !== undefined && { effort: thinking.effort }),
    ...(output && { format: { type: "json_schema", schema: output.schema } }),
  };
  const userId = options.metadata?.["user_id"];
  const payload: Record<string, unknown> = {
    model: model.id,
    max_tokens: options.maxTokens ?? getDefaultMaxTokens(model),
    ...(context.systemPrompt?.trim() && {
      system: [{ type: "text", text: context.systemPrompt.toWellFormed(), ...(cache && { cache_control: cache }) }],
    }),
    messages: encodeMessages(model, context, cache),
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && choice && { tool_choice: encodeToolChoice(choice) }),
    ...thinking.fields,
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...(options.temperature !== undefined && acceptsTemperature && { temperature: options.temperature }),
    ...(typeof userId === "string" && { metadata: { user_id: userId } }),
    stream: true,
  };
  return {
    path: "/v1/messages",
    headers: encodeHeaders(model, options, { thinks: thinking.on, tools }),
    payload,
    notes,
  };
}

function encodeHeaders(
  model: AnthropicModel,
  options: AnthropicOptions,
  request: { thinks: boolean; tools: unknown[] },
): Record<string, string> {
  const betas: string[] = [];
  if (request.tools.length > 0 && model.compat?.supportsEagerToolInputStreaming === false) {
    betas.push("fine-grained-tool-streaming-2025-05-14");
  }
  if (request.thinks && !isAdaptive(model) && options.interleavedThinking !== false) {
    betas.push("interleaved-thinking-2025-05-14");
  }
  return {
    "anthropic-version": "2023-06-01",
    ...(betas.length > 0 && { "anthropic-beta": betas.join(",") }),
    ...(model.compat?.sendSessionAffinityHeaders &&
      getSessionAffinityHeaders(options, model.compat.sessionAffinityFormat)),
  };
}

function encodeThinking(
  model: AnthropicModel,
  options: AnthropicOptions,
  choice: ResolvedToolChoice | undefined,
  notes: EncodeNote[],
): { on: boolean; fields: Record<string, unknown>; effort?: string } {
  if (!model.reasoning || options.thinkingEnabled === undefined) return { on: false, fields: {} };
  const canBeOff = model.thinkingLevelMap?.off !== null;
  if (options.thinkingEnabled && canBeOff && isForced(choice)) {
    notes.push(thinkingLeftOutNote);
    return { on: false, fields: { thinking: { type: "disabled" } } };
  }
  if (!canBeOff && isForced(choice)) {
    notes.push(
      createIgnoredNote("toolChoice", "this model always thinks, and it cannot think before a forced tool call"),
    );
  }
  if (!options.thinkingEnabled) return { on: false, fields: canBeOff ? { thinking: { type: "disabled" } } : {} };
  const display = options.thinkingDisplay && { display: options.thinkingDisplay };
  const thinking = isAdaptive(model)
    ? { type: "adaptive", display: "summarized", ...display }
    : { type: "enabled", budget_tokens: options.thinkingBudgetTokens ?? 1_024, ...display };
  const effort = isAdaptive(model) && options.effort;
  return { on: true, fields: { thinking }, ...(effort && { effort }) };
}

function createCacheControl(model: AnthropicModel, options: AnthropicOptions): CacheControl | undefined {
  const retention = options.cacheRetention ?? "short";
  if (retention === "none") return undefined;
  const keepsHour = retention === "long" && model.compat?.supportsLongCacheRetention !== false;
  return keepsHour ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

function encodeTool(model: AnthropicModel, tool: Tool, notes: EncodeNote[]): Block {
  const strict = tool.strict !== undefined && model.compat?.supportsStrictTools === true;
  if (tool.strict === "require" && !strict) notes.push(createStrictNote(model, tool));
  return {
    name: tool.name,
    description: tool.description,
    input_schema: toJsonSchema(tool.parameters),
    ...(model.compat?.supportsEagerToolInputStreaming !== false && { eager_input_streaming: true }),
    ...(strict && { strict: true }),
  };
}

const encodeToolChoice = (choice: ResolvedToolChoice): Block =>
  choice.kind === "tool" ? { type: "tool", name: choice.name } : { type: choice.kind };

function encodeMessages(model: AnthropicModel, context: Context, cache: CacheControl | undefined): Turn[] {
  const turns = encodeTurns(handOff(context.messages, model, rules), {
    message: (message) =>
      message.role === "user"
        ? message.content.map(encodeContent)
        : message.content.flatMap((block) => encodeAssistantBlock(model, block)),
    result: encodeResult,
  });
  const lastBlock = turns.findLast(({ role }) => role === "user")?.content.at(-1);
  if (cache && lastBlock) lastBlock["cache_control"] = cache;
  return turns;
}

/** The result of a failed call may contain only text. */
function encodeResult(message: ToolResultMessage): { result: Block; images: Block[] } {
  const { content, images } = message.isError ? separateImages(message.content) : { ...message, images: [] };
  const result = {
    type: "tool_result",
    tool_use_id: message.toolCallId,
    content: content.map(encodeContent),
    ...(message.isError && { is_error: true }),
  };
  return { result, images: images.map(encodeContent) };
}

const encodeContent = (block: TextContent | ImageContent): Block =>
  block.type === "text"
    ? { type: "text", text: block.text }
    : { type: "image", source: { type: "base64", media_type: block.mimeType, data: block.data } };

function encodeAssistantBlock(model: AnthropicModel, block: AssistantMessage["content"][number]): Block[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "toolCall":
      return [{ type: "tool_use", id: block.id, name: block.name, input: block.arguments }];
    case "thinking": {
      if (block.redacted)
        return block.thinkingSignature ? [{ type: "redacted_thinking", data: block.thinkingSignature }] : [];
      if (block.thinkingSignature || model.compat?.allowEmptySignature) {
        return [{ type: "thinking", thinking: block.thinking, signature: block.thinkingSignature ?? "" }];
      }
      return block.thinking.trim() ? [{ type: "text", text: block.thinking }] : [];
    }
  }
}
