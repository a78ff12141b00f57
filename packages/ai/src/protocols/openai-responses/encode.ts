import type { Context, Tool } from "../../context.ts";
import type { Model } from "../../model.ts";
import { toClosedSchema } from "../../schema/adapt.ts";
import { toStrictSchema } from "../../schema/openai-strict.ts";
import { createStrictNote } from "../function-tool.ts";
import type { EncodedRequest, EncodeNote } from "../protocol.ts";
import { encodeSamplingParams } from "../sampling.ts";
import { getPromptCacheKey } from "../session-affinity.ts";
import { resolveToolChoice, type ResolvedToolChoice } from "../tool-choice.ts";
import { resolveOutput } from "../output-format.ts";
import { encodeTools, createIgnoredNote, selectTools } from "../tools.ts";
import { encodeInput } from "./input.ts";
import { getOffEffort, type OpenAIResponsesOptions } from "./options.ts";

export type ResponsesModel = Model<"openai-responses" | "azure-openai-responses" | "openai-codex-responses">;

/** The differences between the servers with a Responses API. */
export interface ResponsesVariant {
  /** Appended to the base URL. */
  path: string;
  /** The system prompt goes into `instructions`, or the fallback if there is none. Default: the first input item. */
  instructions?: { fallback: string };
  /** Accepts `max_output_tokens`. */
  outputLimit: boolean;
  /** Accepts `prompt_cache_retention` and `prompt_cache_options`. */
  cacheRetention: boolean;
  /** Accepts fields that the user sets for a model. */
  samplingParams: boolean;
  /** Fields of every request. Options override them. */
  fields?: Readonly<Record<string, unknown>>;
  headers?(model: ResponsesModel, options: OpenAIResponsesOptions): Record<string, string>;
}

/** The API rejects smaller limits. */
const minOutputTokens = 16;

export function encodeRequest(
  variant: ResponsesVariant,
  model: ResponsesModel,
  context: Context,
  options: OpenAIResponsesOptions,
): EncodedRequest {
  const notes = findIgnoredOptions(variant, model, options);
  const selected = selectTools(model, context.tools, notes);
  const tools = encodeTools(selected, (tool) => encodeTool(model, tool, notes), notes);
  const choice = resolveToolChoice(options.toolChoice, selected, notes);
  const output = resolveOutput(options.output, { isSupported: model.compat?.supportsStrictMode !== false, notes });
  const text = {
    ...(options.textVerbosity && { verbosity: options.textVerbosity }),
    ...(output && { format: { type: "json_schema", ...output, strict: true } }),
  };
  const reasoning = encodeReasoning(model, options);
  const acceptsOutputLimit = supportsOutputLimit(variant, model);
  const prompt = context.systemPrompt?.trim() ? context.systemPrompt.toWellFormed() : undefined;
  const { instructions } = variant;
  const cacheKey = getPromptCacheKey(options);
  const payload: Record<string, unknown> = {
    ...variant.fields,
    model: model.id,
    ...(instructions && { instructions: prompt ?? instructions.fallback }),
    input: [...(prompt && !instructions ? [encodeSystem(model, prompt)] : []), ...encodeInput(model, context.messages)],
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && choice && { tool_choice: encodeToolChoice(choice) }),
    ...(reasoning && { reasoning }),
    // With `store: false`, encrypted reasoning must be returned with the history.
    ...(model.reasoning && { include: ["reasoning.encrypted_content"] }),
    ...(acceptsOutputLimit &&
      options.maxTokens !== undefined && { max_output_tokens: Math.max(options.maxTokens, minOutputTokens) }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(options.serviceTier && { service_tier: options.serviceTier }),
    ...(Object.keys(text).length > 0 && { text }),
    ...(cacheKey && { prompt_cache_key: cacheKey }),
    ...(variant.cacheRetention && encodeRetention(model, options)),
    store: false,
    stream: true,
    ...(variant.samplingParams && encodeSamplingParams(model, options)),
  };
  return { path: variant.path, headers: variant.headers?.(model, options) ?? {}, payload, notes };
}

function findIgnoredOptions(
  variant: ResponsesVariant,
  model: ResponsesModel,
  { maxTokens, metadata, reasoningEffort, reasoningSummary }: OpenAIResponsesOptions,
): EncodeNote[] {
  const notes: EncodeNote[] = [];
  if (Object.keys(metadata ?? {}).length > 0) notes.push(createIgnoredNote("metadata", "nothing is stored"));
  if (!supportsOutputLimit(variant, model) && maxTokens !== undefined) {
    notes.push(createIgnoredNote("maxTokens", "this server does not accept a limit"));
  }
  if (!supportsEffort(model) && reasoningEffort !== undefined && reasoningEffort !== getOffEffort(model)) {
    notes.push(createIgnoredNote("reasoningEffort", `${model.id} has no setting for the thinking level`));
  }
  if (!model.reasoning && reasoningSummary !== undefined) {
    notes.push(createIgnoredNote("reasoningSummary", `${model.id} does not think`));
  }
  return notes;
}

const supportsOutputLimit = (variant: ResponsesVariant, model: ResponsesModel): boolean =>
  variant.outputLimit && model.compat?.supportsMaxOutputTokens !== false;

const supportsEffort = (model: ResponsesModel): boolean =>
  model.reasoning && model.compat?.supportsReasoningEffort !== false;

function encodeSystem(model: ResponsesModel, content: string): Record<string, unknown> {
  const developer = model.reasoning && model.compat?.supportsDeveloperRole !== false;
  return { role: developer ? "developer" : "system", content };
}

function encodeReasoning(model: ResponsesModel, options: OpenAIResponsesOptions): Record<string, string> | undefined {
  if (!model.reasoning) return undefined;
  const effort = supportsEffort(model) ? options.reasoningEffort : undefined;
  const isReasoning = effort !== undefined && effort !== getOffEffort(model);
  const summary = options.reasoningSummary ?? (isReasoning ? "auto" : undefined);
  if (effort === undefined && summary === undefined) return undefined;
  return { ...(effort !== undefined && { effort }), ...(summary !== undefined && { summary }) };
}

function encodeRetention(model: ResponsesModel, options: OpenAIResponsesOptions): Record<string, unknown> {
  const long = options.cacheRetention === "long" && model.compat?.supportsLongCacheRetention !== false;
  if (!model.compat?.supportsExplicitPromptCacheMode) return long ? { prompt_cache_retention: "24h" } : {};
  // Explicit mode without a breakpoint turns caching off.
  if (options.cacheRetention === "none") return { prompt_cache_options: { mode: "explicit" } };
  return long ? { prompt_cache_options: { ttl: "30m" } } : {};
}

function encodeTool(model: ResponsesModel, tool: Tool, notes: EncodeNote[]): Record<string, unknown> {
  const supportsStrict = model.compat?.supportsStrictMode !== false;
  const strictSchema = tool.strict && supportsStrict ? toStrictSchema(tool.parameters) : undefined;
  if (tool.strict === "require" && !strictSchema) {
    notes.push(createStrictNote(model, tool));
  }
  return {
    type: "function",
    name: tool.name,
    description: tool.description,
    parameters: strictSchema ?? toClosedSchema(tool.parameters),
    // The API's default is true.
    ...(supportsStrict && { strict: strictSchema !== undefined }),
  };
}

function encodeToolChoice(choice: ResolvedToolChoice): unknown {
  if (choice.kind === "tool") return { type: "function", name: choice.name };
  return choice.kind === "any" ? "required" : choice.kind;
}
