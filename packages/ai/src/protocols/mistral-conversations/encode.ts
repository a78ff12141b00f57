import type { Context } from "../../context.ts";
import type { Model } from "../../model.ts";
import { encodeFunctionTool } from "../function-tool.ts";
import type { EncodedRequest, EncodeNote } from "../protocol.ts";
import { getPromptCacheKey, toHeaderValue } from "../session-affinity.ts";
import { resolveOutput } from "../output-format.ts";
import { resolveToolChoice, type ResolvedToolChoice } from "../tool-choice.ts";
import { encodeTools, createIgnoredNote, selectTools } from "../tools.ts";
import type { Wire } from "../openai-completions/messages.ts";
import { encodeMessages } from "./messages.ts";
import type { MistralOptions } from "./options.ts";

export function encode(model: Model, context: Context, options: MistralOptions): EncodedRequest {
  const notes: EncodeNote[] = [];
  if (Object.keys(options.metadata ?? {}).length > 0)
    notes.push(createIgnoredNote("metadata", "the API does not accept it"));
  const selected = selectTools(model, context.tools, notes);
  const tools = encodeTools(
    selected,
    (tool) => encodeFunctionTool(model, tool, { supportsStrict: true, isClosed: false, notes }),
    notes,
  );
  const choice = resolveToolChoice(options.toolChoice, selected, notes);
  // Beside tools, the API does not document it.
  const output = resolveOutput(options.output, { isSupported: tools.length === 0, notes });
  const cacheKey = getPromptCacheKey(options);
  const payload: Record<string, unknown> = {
    model: model.id,
    messages: encodeMessages(model, context),
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && choice && { tool_choice: encodeToolChoice(choice) }),
    ...(output && { response_format: { type: "json_schema", json_schema: { ...output, strict: true } } }),
    ...(options.maxTokens !== undefined && { max_tokens: options.maxTokens }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(options.promptMode && { prompt_mode: options.promptMode }),
    ...(options.reasoningEffort && { reasoning_effort: options.reasoningEffort }),
    ...(cacheKey && { prompt_cache_key: cacheKey }),
    stream: true,
  };
  return {
    path: "/v1/chat/completions",
    headers: cacheKey ? { "x-affinity": toHeaderValue(cacheKey) } : {},
    payload,
    notes,
  };
}

const encodeToolChoice = (choice: ResolvedToolChoice): string | Wire =>
  choice.kind === "tool" ? { type: "function", function: { name: choice.name } } : choice.kind;
