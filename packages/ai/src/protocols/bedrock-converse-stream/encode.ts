import type { Context, JsonSchema } from "../../context.ts";
import type { Model } from "../../model.ts";
import { getDefaultMaxTokens, thinkingLeftOutNote } from "../claude-thinking.ts";
import type { EncodedRequest, EncodeNote } from "../protocol.ts";
import { resolveOutput } from "../output-format.ts";
import { isForced, resolveToolChoice, type ResolvedToolChoice } from "../tool-choice.ts";
import { createIgnoredNote, selectTools } from "../tools.ts";
import type { Turn } from "../turns.ts";
import { type CachePoint, encodeMessages } from "./encode-messages.ts";
import { encodeToolConfig } from "./encode-tools.ts";
import { parseArnRegion } from "./endpoint.ts";
import { type Family, getFamily } from "./families.ts";
import type { BedrockOptions } from "./options.ts";

type Fields = Record<string, unknown>;

export function encode(anyModel: Model, context: Context, options: BedrockOptions): EncodedRequest {
  const model = anyModel as Model<"bedrock-converse-stream">;
  const notes: EncodeNote[] = [];
  const family = getFamily(model);
  const tools = selectTools(model, context.tools, notes);
  const choice = resolveToolChoice(options.toolChoice, tools, notes);
  const thinking = encodeThinking(model, options, choice, notes);
  const cache = createCachePoint(family, options);
  const messages = encodeMessages(context.messages, model, family);
  const toolConfig = encodeToolConfig({ model, tools, choice, messages, notes });
  if (cache) markLastTurn(messages, family, cache);
  const inference = encodeInference(model, options, thinking, notes);
  const output = resolveOutput(options.output, { isSupported: model.compat?.supportsStrictMode === true, notes });
  const payload: Fields = {
    ...(context.systemPrompt?.trim() && {
      system: [{ text: context.systemPrompt.toWellFormed() }, ...(cache ? [cache] : [])],
    }),
    messages,
    ...(Object.keys(inference).length > 0 && { inferenceConfig: inference }),
    ...(toolConfig && { toolConfig }),
    ...(output && { outputConfig: encodeOutput(output) }),
    ...(thinking.fields && { additionalModelRequestFields: thinking.fields }),
    ...(options.requestMetadata && { requestMetadata: options.requestMetadata }),
  };
  return {
    path: `/model/${encodeURIComponent(model.id)}/converse-stream`,
    headers: { accept: "application/vnd.amazon.eventstream" },
    payload,
    notes,
  };
}

/** The schema crosses as a text. */
const encodeOutput = ({ name, schema }: { name: string; schema: JsonSchema }): Fields => ({
  textFormat: { type: "json_schema", structure: { jsonSchema: { name, schema: JSON.stringify(schema) } } },
});

interface Thinking {
  on: boolean;
  fields?: Fields;
}

function encodeThinking(
  model: Model,
  options: BedrockOptions,
  choice: ResolvedToolChoice | undefined,
  notes: EncodeNote[],
): Thinking {
  const family = getFamily(model);
  const style = family.thinking;
  if (!model.reasoning || style === "none" || options.thinkingEnabled === undefined) return { on: false };
  const isClaude = style === "claude-adaptive" || style === "claude-budget";
  // Adaptive models think by default, so thinking must be disabled explicitly; others think only on request.
  const off: Thinking =
    style === "claude-adaptive" && model.thinkingLevelMap?.off !== null
      ? { on: false, fields: { thinking: { type: "disabled" } } }
      : { on: false };
  if (!options.thinkingEnabled) return off;
  if (isClaude && model.thinkingLevelMap?.off !== null && isForced(choice)) {
    notes.push(thinkingLeftOutNote);
    return off;
  }
  const effort = options.effort ?? "medium";
  switch (style) {
    case "claude-adaptive":
      return { on: true, fields: encodeAdaptiveThinking(model, family, options) };
    case "claude-budget":
      return {
        on: true,
        fields: {
          thinking: {
            type: "enabled",
            budget_tokens: options.thinkingBudgetTokens ?? 1_024,
            ...(options.thinkingDisplay && { display: options.thinkingDisplay }),
          },
          ...(family.interleaves &&
            options.interleavedThinking !== false && { anthropic_beta: ["interleaved-thinking-2025-05-14"] }),
        },
      };
    case "nova":
      return { on: true, fields: { reasoningConfig: { type: "enabled", maxReasoningEffort: effort } } };
    case "gpt":
      return { on: true, fields: { reasoning: { effort } } };
    case "gpt-oss":
      return { on: true, fields: { reasoning_effort: effort } };
  }
}

function encodeAdaptiveThinking(model: Model, family: Family, options: BedrockOptions): Fields {
  // GovCloud does not support `display` and `block_binding` yet.
  const isGov = isGovCloud(model, options);
  const binds = family.bindsThinking && !isGov;
  return {
    thinking: {
      type: "adaptive",
      ...(!isGov && { display: options.thinkingDisplay ?? "summarized" }),
      ...(binds && { block_binding: { prefix_mismatch_behavior: "drop_block" } }),
    },
    ...(options.effort && { output_config: { effort: options.effort } }),
    ...(binds && { anthropic_beta: ["thinking-binding-controls-2026-08-01"] }),
  };
}

const isGovCloud = (model: Model, options: BedrockOptions): boolean =>
  model.id.startsWith("us-gov.") ||
  [parseArnRegion(model.id), options.region, options.env?.["AWS_REGION"]].some((region) =>
    region?.startsWith("us-gov-"),
  );

function encodeInference(model: Model, options: BedrockOptions, thinking: Thinking, notes: EncodeNote[]): Fields {
  const family = getFamily(model);
  const ignore = (option: "maxTokens" | "temperature", reason: string) => {
    if (options[option] !== undefined) notes.push(createIgnoredNote(option, reason));
  };
  if (family.thinking === "nova" && thinking.on && options.effort === "high") {
    for (const option of ["maxTokens", "temperature"] as const)
      ignore(option, "the model does not accept it at its highest effort");
    return {};
  }
  const maxTokens = options.maxTokens ?? (family.needsMaxTokens ? getDefaultMaxTokens(model) : undefined);
  const acceptsTemperature = family.temperature && !(thinking.on && family.signsThinking);
  if (!acceptsTemperature) ignore("temperature", thinking.on ? "thinking is on" : `${model.id} does not accept it`);
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(options.temperature !== undefined && acceptsTemperature && { temperature: options.temperature }),
  };
}

function createCachePoint(family: Family, options: BedrockOptions): CachePoint | undefined {
  const retention = options.cacheRetention ?? "short";
  if (retention === "none" || !family.cachePoints) return undefined;
  const keepsHour = retention === "long" && family.cachePoints === "1h";
  return { cachePoint: { type: "default", ...(keepsHour && { ttl: "1h" }) } };
}

/** Adds a cache point to the last user turn that may have one. */
function markLastTurn(messages: Turn[], family: Family, cache: CachePoint): void {
  const turn = messages.findLast(
    ({ role, content }) =>
      role === "user" && (family.cachesToolResults || content.at(-1)?.["toolResult"] === undefined),
  );
  turn?.content.push(cache);
}
