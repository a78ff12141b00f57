import type { Model } from "../../model.ts";
import type { SimpleStreamOptions } from "../../options.ts";
import { type ClaudeOptions, resolveClaudeOptions } from "../claude-thinking.ts";

export type AnthropicOptions = ClaudeOptions;

export const isAdaptive = (model: Model<"anthropic-messages">): boolean => model.compat?.forceAdaptiveThinking === true;

export const resolveOptions = (model: Model, options: SimpleStreamOptions): AnthropicOptions =>
  resolveClaudeOptions(model, options, isAdaptive(model as Model<"anthropic-messages">) ? "effort" : "budget");
