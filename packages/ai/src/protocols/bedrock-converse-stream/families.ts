/**
 * How Bedrock's model families differ, according to AWS's documentation. The Converse API is the same for all vendors,
 * but each model accepts only some of it.
 */
import type { Model } from "../../model.ts";

/** Which `additionalModelRequestFields` control thinking. */
type ThinkingStyle = "claude-budget" | "claude-adaptive" | "nova" | "gpt" | "gpt-oss" | "none";

export interface Family {
  thinking: ThinkingStyle;
  /** The maximum time to live of a cache point; undefined if cache points are rejected. */
  cachePoints: "5m" | "1h" | undefined;
  /** Accepts a cache point directly after a tool result. */
  cachesToolResults: boolean;
  /** Accepts thinking back with its signature; other families reject the signature field. */
  signsThinking: boolean;
  /** Accepts images in the result of a failed call. */
  imagesInErrors: boolean;
  /** Accepts `temperature`. */
  temperature: boolean;
  /** Supports thinking between tool calls with a beta flag. */
  interleaves: boolean;
  /** Rejects signed thinking after the system prompt or the tools have changed, unless the request says to drop it. */
  bindsThinking: boolean;
  /** Rejects text next to tool calls or tool results in one message. */
  separatesTools: boolean;
  /** The default limit for answers is too low, so a limit is always sent. */
  needsMaxTokens: boolean;
}

const defaults: Family = {
  thinking: "none",
  cachePoints: undefined,
  cachesToolResults: false,
  signsThinking: false,
  imagesInErrors: true,
  temperature: true,
  interleaves: false,
  bindsThinking: false,
  separatesTools: false,
  needsMaxTokens: false,
};

const claude: Family = {
  ...defaults,
  cachesToolResults: true,
  signsThinking: true,
  imagesInErrors: false,
  needsMaxTokens: true,
};

const claudeBudget: Family = { ...claude, thinking: "claude-budget", cachePoints: "5m", interleaves: true };
const claudeAdaptive: Family = { ...claude, thinking: "claude-adaptive", cachePoints: "1h" };

/** The first match is used. */
const families: readonly [RegExp, Family][] = [
  [/claude-[a-z]+-(4-[789]|[5-9])(?!\d)/, { ...claudeAdaptive, temperature: false, bindsThinking: true }],
  [/claude-[a-z]+-4-6(?!\d)/, claudeAdaptive],
  [/claude-[a-z]+-4-5(?!\d)/, { ...claudeBudget, cachePoints: "1h" }],
  [/claude-[a-z]+-4(?!\d)/, claudeBudget],
  [/claude-3-7-sonnet/, { ...claudeBudget, interleaves: false }],
  [/claude-3-5-haiku/, { ...claude, cachePoints: "5m" }],
  [/claude/, claude],
  [/nova-2-/, { ...defaults, thinking: "nova", cachePoints: "5m" }],
  [/amazon-nova|^nova-(micro|lite|pro|premier)/, { ...defaults, cachePoints: "5m" }],
  [/gpt-oss/, { ...defaults, thinking: "gpt-oss" }],
  [/gpt-\d/, { ...defaults, thinking: "gpt" }],
  [/llama/, { ...defaults, separatesTools: true }],
];

/**
 * The family of a model, by its id. If the id does not match any family, as with application inference profiles, the
 * model's name is used.
 */
export function getFamily(model: Model): Family {
  for (const text of [model.id, model.name]) {
    const normalized = text.toLowerCase().replace(/[\s_.:/]+/g, "-");
    const match = families.find(([pattern]) => pattern.test(normalized));
    if (match) return match[1];
  }
  return defaults;
}
