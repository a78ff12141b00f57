import type { Context } from "../../context.ts";
import type { Model } from "../../model.ts";
import { encodeFunctionTool } from "../function-tool.ts";
import type { EncodedRequest, EncodeNote } from "../protocol.ts";
import { encodeSamplingParams } from "../sampling.ts";
import { getSessionAffinityHeaders } from "../session-affinity.ts";
import { resolveOutput } from "../output-format.ts";
import { type ResolvedToolChoice, resolveToolChoice } from "../tool-choice.ts";
import { encodeTools, createIgnoredNote, selectTools } from "../tools.ts";
import { encodeCacheFields, markCacheable } from "./cache.ts";
import { type CompletionsModel, resolveCompat } from "./compat.ts";
import { encodeHistory, type Wire } from "./messages.ts";
import type { OpenAICompletionsOptions } from "./options.ts";
import { encodeThinking } from "./thinking.ts";

export const completionsPath = "/chat/completions";

export function encode(anyModel: Model, context: Context, options: OpenAICompletionsOptions): EncodedRequest {
  const model = resolveCompat(anyModel);
  const { compat } = model;
  const notes: EncodeNote[] = [];
  const thinking = encodeThinking(model, options);
  if (thinking.ignored)
    notes.push(createIgnoredNote("reasoningEffort", `${model.id} has no setting for the thinking level`));
  if (Object.keys(options.metadata ?? {}).length > 0) notes.push(createIgnoredNote("metadata", "nothing is stored"));
  const selected = selectTools(model, context.tools, notes);
  const choice = resolveToolChoice(options.toolChoice, selected, notes);
  const tools = encodeTools(
    selected,
    (tool) => encodeFunctionTool(model, tool, { supportsStrict: compat.supportsStrictMode, isClosed: true, notes }),
    notes,
  );
  const output = resolveOutput(options.output, { isSupported: compat.supportsOutputFormat, notes });
  const system = encodeSystem(model, context.systemPrompt);
  const history = encodeHistory(model, context.messages, thinking.on);
  markCacheable(model, options, { system, tools, history });
  const payload: Record<string, unknown> = {
    model: model.id,
    messages: system ? [system, ...history] : history,
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && choice && { tool_choice: encodeToolChoice(choice) }),
    ...(tools.length > 0 && compat.zaiToolStream && { tool_stream: true }),
    ...(output && { response_format: { type: "json_schema", json_schema: { ...output, strict: true } } }),
    ...(options.maxTokens !== undefined && { [compat.maxTokensField]: options.maxTokens }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...thinking.fields,
    ...encodeCacheFields(model, options),
    ...encodeRouting(model),
    ...(compat.supportsStore && { store: false }),
    stream: true,
    ...(compat.supportsUsageInStreaming && { stream_options: { include_usage: true } }),
    ...(compat.vllmPriority !== undefined && { priority: compat.vllmPriority }),
    ...encodeSamplingParams(model, options),
  };
  const headers = compat.sendSessionAffinityHeaders
    ? getSessionAffinityHeaders(options, compat.sessionAffinityFormat)
    : {};
  return { path: completionsPath, headers, payload, notes };
}

function encodeSystem(model: CompletionsModel, prompt: string | undefined): Wire | undefined {
  if (!prompt?.trim()) return undefined;
  const role = model.reasoning && model.compat.supportsDeveloperRole ? "developer" : "system";
  return { role, content: prompt.toWellFormed() };
}

function encodeToolChoice(choice: ResolvedToolChoice): string | Wire {
  if (choice.kind === "tool") return { type: "function", function: { name: choice.name } };
  return choice.kind === "any" ? "required" : choice.kind;
}

/** Routing preferences of OpenRouter and Vercel AI Gateway. */
function encodeRouting({ compat: { openRouterRouting, vercelGatewayRouting } }: CompletionsModel): Wire {
  return {
    ...(openRouterRouting && { provider: openRouterRouting }),
    ...(vercelGatewayRouting && { providerOptions: { gateway: vercelGatewayRouting } }),
  };
}
