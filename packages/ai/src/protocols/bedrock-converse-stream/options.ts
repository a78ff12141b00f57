import type { AwsCredentials } from "../../auth/aws-credentials.ts";
import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { resolveClaudeThinking } from "../claude-thinking.ts";
import { getFamily } from "./families.ts";

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

export function resolveOptions(model: Model, options: SimpleStreamOptions): BedrockOptions {
  const { reasoning: _level, thinkingBudgets: _budgets, ...shared } = options;
  const thinksBy = getFamily(model).thinking === "claude-budget" ? "budget" : "effort";
  return { ...shared, ...resolveClaudeThinking(model, options, thinksBy) };
}
