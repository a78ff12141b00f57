import type { Context, Tool } from "../../context.ts";
import type { Model } from "../../model.ts";
import { toJsonSchema } from "../../schema/adapt.ts";
import { toStrictSchema } from "../../schema/openai-strict.ts";
import type { EncodedRequest, EncodeNote } from "../protocol.ts";
import { resolveToolChoice, type ResolvedToolChoice } from "../tool-choice.ts";
import { encodeTools, offeredTools } from "../tools.ts";
import { encodeMessages, type Wire } from "./messages.ts";
import type { MistralOptions } from "./options.ts";

export function encode(model: Model, context: Context, options: MistralOptions): EncodedRequest {
  const notes: EncodeNote[] = [];
  const tools = encodeTools(offeredTools(model, context.tools, notes), (tool) => encodeTool(model, tool, notes), notes);
  const choice = resolveToolChoice(options.toolChoice);
  const cacheKey = options.cacheRetention === "none" ? undefined : options.sessionId;
  const payload: Record<string, unknown> = {
    model: model.id,
    messages: encodeMessages(model, context),
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && choice && { tool_choice: encodeToolChoice(choice) }),
    ...(options.maxTokens !== undefined && { max_tokens: options.maxTokens }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(options.promptMode && { prompt_mode: options.promptMode }),
    ...(options.reasoningEffort && { reasoning_effort: options.reasoningEffort }),
    ...(cacheKey && { prompt_cache_key: cacheKey }),
    stream: true,
  };
  return {
    path: "/v1/chat/completions",
    headers: cacheKey ? { "x-affinity": cacheKey } : {},
    payload,
    notes,
  };
}

function encodeTool(model: Model, tool: Tool, notes: EncodeNote[]): Wire {
  const strict = tool.strict === undefined ? undefined : toStrictSchema(tool.parameters);
  if (tool.strict === "require" && !strict) {
    notes.push({ type: "strict_not_supported", message: `${model.id} cannot be held to the schema of ${tool.name}.` });
  }
  return {
    type: "function",
    function: {
      name: tool.name,
      description: tool.description,
      parameters: strict ?? toJsonSchema(tool.parameters),
      ...(strict && { strict: true }),
    },
  };
}

const encodeToolChoice = (choice: ResolvedToolChoice): string | Wire =>
  choice.kind === "tool" ? { type: "function", function: { name: choice.name } } : choice.kind;
