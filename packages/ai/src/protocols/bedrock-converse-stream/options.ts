import type { AwsCredentials } from "../../auth/aws-credentials.ts";
import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { clampThinkingLevel, thinkingBudget, thinkingWord } from "../../thinking.ts";
import { familyOf } from "./families.ts";

export interface BedrockOptions extends StreamOptions {
  /** Default: `AWS_REGION`, `AWS_DEFAULT_REGION`, then the base URL's. A model id that is an ARN carries its own. */
  region?: string;
  /** A profile of AWS's shared files. Default `AWS_PROFILE`, then `default`. */
  profile?: string;
  /** A Bedrock API key; `apiKey` means the same. Default `AWS_BEARER_TOKEN_BEDROCK`. */
  bearerToken?: string;
  /** Sign with these instead of looking for any. */
  credentials?: AwsCredentials;
  /** Unset leaves the decision to the provider. */
  thinkingEnabled?: boolean;
  /** For models that think by budget; must stay below `maxTokens`. Default 1,024. */
  thinkingBudgetTokens?: number;
  /** For models that think by effort. */
  effort?: "low" | "medium" | "high" | "xhigh" | "max" | (string & {});
  /** What of a Claude model's thinking is shown. Default `summarized` for adaptive models, the provider's for others. */
  thinkingDisplay?: "summarized" | "omitted";
  /** Thinking between tool calls, for Claude models that think by budget. Default true. */
  interleavedThinking?: boolean;
  /** Labels for AWS's invocation logs. */
  requestMetadata?: Record<string, string>;
}

export const defaultMaxTokens = (model: Model): number => Math.min(model.maxTokens, 32_000);

/** The least a thinking budget may be. */
const leastBudget = 1_024;

export function resolveOptions(model: Model, options: SimpleStreamOptions): BedrockOptions {
  const { reasoning, thinkingBudgets, ...shared } = options;
  if (!model.reasoning) return shared;
  const level = clampThinkingLevel(model, reasoning ?? "off");
  if (level === "off") return { ...shared, thinkingEnabled: false };
  if (familyOf(model).thinking !== "claude-budget") {
    const word = thinkingWord(model, level);
    return { ...shared, thinkingEnabled: true, effort: word === "minimal" ? "low" : word };
  }
  // The budget is part of the answer's tokens: raise the limit to leave the answer its room, then fit the budget in.
  const budget = thinkingBudget(level, thinkingBudgets);
  const maxTokens = Math.min((options.maxTokens ?? defaultMaxTokens(model)) + budget, model.maxTokens);
  const thinkingBudgetTokens = Math.min(budget, maxTokens - leastBudget);
  if (thinkingBudgetTokens < leastBudget) return { ...shared, thinkingEnabled: false };
  return { ...shared, thinkingEnabled: true, maxTokens, thinkingBudgetTokens };
}
