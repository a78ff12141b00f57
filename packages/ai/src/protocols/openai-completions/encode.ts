import type { Context, Tool } from "../../context.ts";
import type { Model } from "../../model.ts";
import { toJsonSchema } from "../../schema/adapt.ts";
import { toStrictSchema } from "../../schema/openai-strict.ts";
import type { EncodedRequest, EncodeNote } from "../protocol.ts";
import { sessionAffinityHeaders } from "../session-affinity.ts";
import { type ResolvedToolChoice, resolveToolChoice } from "../tool-choice.ts";
import { encodeTools, offeredTools } from "../tools.ts";
import { encodeCacheFields, markCacheable } from "./cache.ts";
import { type CompletionsModel, resolveCompat } from "./compat.ts";
import { encodeHistory, type Wire } from "./messages.ts";
import type { OpenAICompletionsOptions } from "./options.ts";
import { encodeThinking } from "./thinking.ts";

export function encode(anyModel: Model, context: Context, options: OpenAICompletionsOptions): EncodedRequest {
  const model = resolveCompat(anyModel);
  const { compat } = model;
  const notes: EncodeNote[] = [];
  const thinking = encodeThinking(model, options);
  const choice = resolveToolChoice(options.toolChoice);
  const tools = encodeTools(offeredTools(model, context.tools, notes), (tool) => encodeTool(model, tool, notes), notes);
  const system = encodeSystem(model, context.systemPrompt);
  const history = encodeHistory(model, context.messages, thinking.on);
  markCacheable(model, options, { system, tools, history });
  const payload: Record<string, unknown> = {
    model: model.id,
    messages: system ? [system, ...history] : history,
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && choice && { tool_choice: encodeToolChoice(choice) }),
    ...(tools.length > 0 && compat.zaiToolStream && { tool_stream: true }),
    ...(options.maxTokens !== undefined && { [compat.maxTokensField]: options.maxTokens }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...thinking.fields,
    ...encodeCacheFields(model, options),
    ...encodeRouting(model),
    ...(compat.supportsStore && { store: false }),
    stream: true,
    ...(compat.supportsUsageInStreaming && { stream_options: { include_usage: true } }),
  };
  const headers = compat.sendSessionAffinityHeaders
    ? sessionAffinityHeaders(options, compat.sessionAffinityFormat)
    : {};
  return { path: "/chat/completions", headers, payload, notes };
}

function encodeSystem(model: CompletionsModel, prompt: string | undefined): Wire | undefined {
  if (!prompt) return undefined;
  const role = model.reasoning && model.compat.supportsDeveloperRole ? "developer" : "system";
  return { role, content: prompt.toWellFormed() };
}

function encodeTool(model: CompletionsModel, tool: Tool, notes: EncodeNote[]): Wire {
  const strict = tool.strict && model.compat.supportsStrictMode ? toStrictSchema(tool.parameters) : undefined;
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

function encodeToolChoice(choice: ResolvedToolChoice): string | Wire {
  if (choice.kind === "tool") return { type: "function", function: { name: choice.name } };
  return choice.kind === "any" ? "required" : choice.kind;
}

/** Preferences of the two gateways that choose among providers. */
function encodeRouting({ compat: { openRouterRouting, vercelGatewayRouting } }: CompletionsModel): Wire {
  return {
    ...(openRouterRouting && { provider: openRouterRouting }),
    ...(vercelGatewayRouting && { providerOptions: { gateway: vercelGatewayRouting } }),
  };
}
