import type { AwsCredentials } from "../../auth/aws-credentials.ts";
import type { Model } from "../../model.ts";
import type { SimpleStreamOptions } from "../../options.ts";
import { type ClaudeOptions, resolveClaudeOptions } from "../claude-thinking.ts";
import { getFamily } from "./families.ts";

export interface BedrockOptions extends ClaudeOptions {
  /** Default: `AWS_REGION`, `AWS_DEFAULT_REGION`, then the base URL's. If the model id is an ARN, its region is used. */
  region?: string;
  /** A profile of AWS's shared files. Default `AWS_PROFILE`, then `default`. */
  profile?: string;
  /** A Bedrock API key, like `apiKey`. Default `AWS_BEARER_TOKEN_BEDROCK`. */
  bearerToken?: string;
  /** Credentials to sign with. Default: from the environment, the profile or the container. */
  credentials?: AwsCredentials;
  /** Labels for AWS's invocation logs. */
  requestMetadata?: Record<string, string>;
}

export const resolveOptions = (model: Model, options: SimpleStreamOptions): BedrockOptions =>
  resolveClaudeOptions(model, options, getFamily(model).thinking === "claude-budget" ? "budget" : "effort");
