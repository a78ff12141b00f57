import type { AwsCredentials } from "../../auth/aws-credentials.ts";
import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { resolveClaudeThinking } from "../claude-thinking.ts";
import { getFamily } from "./families.ts";

export interface BedrockOptions extends StreamOptions {
  /** Default: `AWS_REGION`, `AWS_DEFAULT_REGION`, then the base URL's. If the model id is an ARN, its region is used. */
  region?: string;
  /** A profile of AWS's shared files. Default `AWS_PROFILE`, then `default`. */
  profile?: string;
  /** A Bedrock API key, like `apiKey`. Default `AWS_BEARER_TOKEN_BEDROCK`. */
  bearerToken?: string;
  /** Credentials to sign with. Default: from the environment, the profile or the container. */
  credentials?: AwsCredentials;
  /** Default: the provider's. */
  thinkingEnabled?: boolean;
  /** For models that think by budget. Must be less than `maxTokens`. Default 1,024. */
  thinkingBudgetTokens?: number;
  /** For models that think by effort. */
  effort?: "low" | "medium" | "high" | "xhigh" | "max" | (string & {});
  /** Whether Claude models return thinking. Default: `summarized` for adaptive thinking, else the provider's. */
  thinkingDisplay?: "summarized" | "omitted";
  /** Allows thinking between tool calls, for Claude models that think by budget. Default true. */
  interleavedThinking?: boolean;
  /** Labels for AWS's invocation logs. */
  requestMetadata?: Record<string, string>;
}

export function resolveOptions(model: Model, options: SimpleStreamOptions): BedrockOptions {
  const { reasoning: _level, thinkingBudgets: _budgets, ...shared } = options;
  const thinksBy = getFamily(model).thinking === "claude-budget" ? "budget" : "effort";
  return { ...shared, ...resolveClaudeThinking(model, options, thinksBy) };
}
