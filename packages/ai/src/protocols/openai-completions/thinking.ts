/** The request fields that turn thinking on or off, for each kind of server. Pure. */
import type { ChatTemplateValue, ModelThinkingLevel, ThinkingLevel } from "../../model.ts";
import { clampThinkingLevel, getThinkingBudget, toProviderLevel } from "../../thinking.ts";
import { assertNever } from "../../errors.ts";
import type { CompletionsModel } from "./compat.ts";
import type { OpenAICompletionsOptions } from "./options.ts";

/** The thinking settings of a request. `fields` go into the payload. */
interface Thinking {
  on: boolean;
  fields: Record<string, unknown>;
  /** Thinking was requested, but the server has no field for it. */
  ignored: boolean;
}

/** The requested thinking level, as the server expects it. */
interface ServerLevel {
  on: boolean;
  /** The server's value for the level. `off` has one only if the model's map defines it. */
  effort: string | undefined;
  /** In tokens; only if thinking is on. */
  budget: number | undefined;
}

/** The answer's minimum share of `maxTokens`, in tokens, if it shares them with the thinking budget. */
const minAnswerTokens = 1_024;

export function encodeThinking(model: CompletionsModel, options: OpenAICompletionsOptions): Thinking {
  const level = resolveServerLevel(model, options);
  const { chatTemplateArgs, chatTemplateKwargs } = model.compat;
  const args = fillTemplateValues(chatTemplateArgs, level);
  const kwargs = { ...(level && encodeQwenSwitch(model, level)), ...fillTemplateValues(chatTemplateKwargs, level) };
  const fields = {
    ...(level && encodeLevel(model, level)),
    ...(level && encodeBudget(model, level)),
    ...(Object.keys(args).length > 0 && { chat_template_args: args }),
    ...(Object.keys(kwargs).length > 0 && { chat_template_kwargs: kwargs }),
  };
  return {
    on: level?.on === true,
    fields,
    ignored: Object.keys(fields).length === 0 && isAboveOff(model, options.reasoningEffort),
  };
}

/** Whether the level differs from what `off` means for this model, which may be its lowest level. */
const isAboveOff = (model: CompletionsModel, level: ModelThinkingLevel = "off"): boolean =>
  clampThinkingLevel(model, level) !== clampThinkingLevel(model, "off");

function resolveServerLevel(model: CompletionsModel, options: OpenAICompletionsOptions): ServerLevel | undefined {
  if (!model.reasoning || options.reasoningEffort === undefined) return undefined;
  const level = clampThinkingLevel(model, options.reasoningEffort);
  if (level === "off") {
    const cannotBeOff = model.thinkingLevelMap?.off === null;
    return cannotBeOff ? undefined : { on: false, effort: model.thinkingLevelMap?.off ?? undefined, budget: undefined };
  }
  return { on: true, effort: toProviderLevel(model, level), budget: resolveBudget(model, level, options) };
}

function resolveBudget(model: CompletionsModel, level: ThinkingLevel, options: OpenAICompletionsOptions) {
  const maxBudget = (options.maxTokens ?? model.maxTokens) - minAnswerTokens;
  const budget = Math.min(getThinkingBudget(level, options.thinkingBudgets), maxBudget);
  return budget > 0 ? budget : undefined;
}

function encodeLevel(model: CompletionsModel, level: ServerLevel): Record<string, unknown> {
  const { thinkingFormat, supportsReasoningEffort } = model.compat;
  const effort = supportsReasoningEffort && level.effort !== undefined ? { reasoning_effort: level.effort } : {};
  switch (thinkingFormat) {
    case "openai":
    case "baseten":
      return effort;
    case "openrouter":
      return { reasoning: { effort: level.effort ?? "none" } };
    case "deepseek":
      return { thinking: { type: level.on ? "enabled" : "disabled" }, ...effort };
    case "zai":
      // Earlier thinking is sent back with the history and must not be cleared.
      return { thinking: level.on ? { type: "enabled", clear_thinking: false } : { type: "disabled" }, ...effort };
    case "qwen":
      return { enable_thinking: level.on, ...effort };
    case "together":
      return { reasoning: { enabled: level.on }, ...effort };
    case "ant-ling":
      return level.effort === undefined ? {} : { reasoning: { effort: level.effort } };
    case "string-thinking":
      return { thinking: level.effort ?? "none" };
    case "qwen-chat-template":
    case "chat-template":
      return {};
    default:
      return assertNever(thinkingFormat);
  }
}

function encodeBudget({ compat }: CompletionsModel, { budget }: ServerLevel): Record<string, unknown> {
  const { thinkingTokenBudgetField, supportsThinkingTokenBudget } = compat;
  const field = thinkingTokenBudgetField ?? (supportsThinkingTokenBudget ? "thinking_token_budget" : undefined);
  return field !== undefined && budget !== undefined ? { [field]: budget } : {};
}

/** The arguments of Qwen's chat template that turn thinking on and keep earlier thinking in the prompt. */
const encodeQwenSwitch = (model: CompletionsModel, level: ServerLevel) =>
  model.compat.thinkingFormat === "qwen-chat-template" && { enable_thinking: level.on, preserve_thinking: true };

/** Fills in the values that depend on the thinking level. They are left out if no level was requested. */
function fillTemplateValues(
  values: Record<string, ChatTemplateValue> | undefined,
  level: ServerLevel | undefined,
): Record<string, unknown> {
  const filled = Object.entries(values ?? {}).map(([key, value]) => [key, fillTemplateValue(value, level)] as const);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined));
}

function fillTemplateValue(value: ChatTemplateValue, level: ServerLevel | undefined): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!level || (!level.on && value.omitWhenOff)) return undefined;
  const values = { "thinking.enabled": level.on, "thinking.effort": level.effort, "thinking.budget": level.budget };
  return values[value.$var];
}
