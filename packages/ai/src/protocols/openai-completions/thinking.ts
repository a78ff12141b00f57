/** How each kind of server wants to be told to think, or not to. Pure. */
import type { ChatTemplateValue, ModelThinkingLevel, ThinkingLevel } from "../../model.ts";
import { clampThinkingLevel, thinkingBudget, thinkingWord } from "../../thinking.ts";
import { assertNever } from "../../errors.ts";
import type { CompletionsModel } from "./compat.ts";
import type { OpenAICompletionsOptions } from "./options.ts";

/** What was decided about thinking. `fields` go into the payload. */
export interface Thinking {
  on: boolean;
  fields: Record<string, unknown>;
  /** Thinking was asked for, and there is no field to say so. */
  ignored: boolean;
}

/** Facts about the asked level, in the server's words. */
interface Asked {
  on: boolean;
  /** The server's word for the level. Off has one only where the model's map names it. */
  word: string | undefined;
  /** Tokens, where thinking is on. */
  budget: number | undefined;
}

/** What must be left for the answer when a budget is part of it. */
const minAnswer = 1_024;

export function encodeThinking(model: CompletionsModel, options: OpenAICompletionsOptions): Thinking {
  const asked = resolveAsked(model, options);
  const { chatTemplateArgs, chatTemplateKwargs } = model.compat;
  const args = templateValues(chatTemplateArgs, asked);
  const kwargs = { ...(asked && templateSwitch(model, asked)), ...templateValues(chatTemplateKwargs, asked) };
  const fields = {
    ...(asked && thinkingFields(model, asked)),
    ...(Object.keys(args).length > 0 && { chat_template_args: args }),
    ...(Object.keys(kwargs).length > 0 && { chat_template_kwargs: kwargs }),
  };
  return {
    on: asked?.on === true,
    fields,
    ignored: Object.keys(fields).length === 0 && asksForMore(model, options.reasoningEffort),
  };
}

/** The least that a model can do is what it does unasked. */
const asksForMore = (model: CompletionsModel, level: ModelThinkingLevel = "off"): boolean =>
  clampThinkingLevel(model, level) !== clampThinkingLevel(model, "off");

function resolveAsked(model: CompletionsModel, options: OpenAICompletionsOptions): Asked | undefined {
  if (!model.reasoning || options.reasoningEffort === undefined) return undefined;
  const level = clampThinkingLevel(model, options.reasoningEffort);
  if (level === "off") {
    const cannotBeOff = model.thinkingLevelMap?.off === null;
    return cannotBeOff ? undefined : { on: false, word: model.thinkingLevelMap?.off ?? undefined, budget: undefined };
  }
  return { on: true, word: thinkingWord(model, level), budget: budgetFor(model, level, options) };
}

function budgetFor(model: CompletionsModel, level: ThinkingLevel, options: OpenAICompletionsOptions) {
  const room = (options.maxTokens ?? model.maxTokens) - minAnswer;
  const budget = Math.min(thinkingBudget(level, options.thinkingBudgets), room);
  return budget > 0 ? budget : undefined;
}

function thinkingFields(model: CompletionsModel, asked: Asked): Record<string, unknown> {
  const { thinkingFormat, supportsReasoningEffort } = model.compat;
  const effort = supportsReasoningEffort && asked.word !== undefined ? { reasoning_effort: asked.word } : {};
  switch (thinkingFormat) {
    case "openai":
    case "baseten":
      return effort;
    case "openrouter":
      return { reasoning: { effort: asked.word ?? "none" } };
    case "deepseek":
      return { thinking: { type: asked.on ? "enabled" : "disabled" }, ...effort };
    case "zai":
      // Earlier thinking goes back with the history, so it is not to be cleared.
      return { thinking: asked.on ? { type: "enabled", clear_thinking: false } : { type: "disabled" }, ...effort };
    case "qwen":
      return { enable_thinking: asked.on, ...effort };
    case "together":
      return { reasoning: { enabled: asked.on }, ...effort };
    case "ant-ling":
      return asked.word === undefined ? {} : { reasoning: { effort: asked.word } };
    case "qwen-chat-template":
    case "chat-template":
      return {};
    default:
      return assertNever(thinkingFormat);
  }
}

/** The switch in Qwen's own chat template, and the one that keeps earlier thinking in it. */
const templateSwitch = (model: CompletionsModel, asked: Asked) =>
  model.compat.thinkingFormat === "qwen-chat-template" && { enable_thinking: asked.on, preserve_thinking: true };

/** Constants as they are; what depends on thinking is left out where nothing was asked. */
function templateValues(
  values: Record<string, ChatTemplateValue> | undefined,
  asked: Asked | undefined,
): Record<string, unknown> {
  const filled = Object.entries(values ?? {}).map(([key, value]) => [key, templateValue(value, asked)] as const);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined));
}

function templateValue(value: ChatTemplateValue, asked: Asked | undefined): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!asked || (!asked.on && value.omitWhenOff)) return undefined;
  switch (value.$var) {
    case "thinking.enabled":
      return asked.on;
    case "thinking.effort":
      return asked.word;
    case "thinking.budget":
      return asked.budget;
    default:
      return undefined;
  }
}
