/**
 * What Bedrock's models differ in beyond the Converse API, as AWS documents it for each family. Converse hides which
 * vendor a model is from, but not what the vendor's model accepts.
 */
import type { Model } from "../../model.ts";

/** How a family is told to think, in `additionalModelRequestFields`. */
export type ThinkingStyle = "claude-budget" | "claude-adaptive" | "nova" | "gpt" | "gpt-oss" | "none";

export interface Family {
  thinking: ThinkingStyle;
  /** The longest a cache point may be asked to live; undefined where cache points are rejected. */
  cachePoints: "5m" | "1h" | undefined;
  /** A cache point may stand right behind a tool result. */
  cachesToolResults: boolean;
  /** Takes thinking back with its signature; the others reject the field. */
  signsThinking: boolean;
  /** Takes images in the result of a failed call. */
  imagesInErrors: boolean;
  /** Accepts `temperature`. */
  temperature: boolean;
  /** Thinks between tool calls when the beta is named. */
  interleaves: boolean;
  /** Rejects signed thinking after the system prompt or the tools changed, unless told to drop it. */
  bindsThinking: boolean;
  /** Rejects words next to tool calls or tool results in one message. */
  separatesTools: boolean;
  /** Answers are short unless a limit is named. */
  needsMaxTokens: boolean;
}

const plain: Family = {
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
  ...plain,
  cachesToolResults: true,
  signsThinking: true,
  imagesInErrors: false,
  needsMaxTokens: true,
};

const claudeBudget: Family = { ...claude, thinking: "claude-budget", cachePoints: "5m", interleaves: true };
const claudeAdaptive: Family = { ...claude, thinking: "claude-adaptive", cachePoints: "1h" };

/** The first row that matches counts. */
const families: readonly [RegExp, Family][] = [
  [/claude-[a-z]+-(4-[789]|[5-9])(?!\d)/, { ...claudeAdaptive, temperature: false, bindsThinking: true }],
  [/claude-[a-z]+-4-6(?!\d)/, claudeAdaptive],
  [/claude-[a-z]+-4-5(?!\d)/, { ...claudeBudget, cachePoints: "1h" }],
  [/claude-[a-z]+-4(?!\d)/, claudeBudget],
  [/claude-3-7-sonnet/, { ...claudeBudget, interleaves: false }],
  [/claude-3-5-haiku/, { ...claude, cachePoints: "5m" }],
  [/claude/, claude],
  [/nova-2-/, { ...plain, thinking: "nova", cachePoints: "5m" }],
  [/amazon-nova|^nova-(micro|lite|pro|premier)/, { ...plain, cachePoints: "5m" }],
  [/gpt-oss/, { ...plain, thinking: "gpt-oss" }],
  [/gpt-\d/, { ...plain, thinking: "gpt" }],
  [/llama/, { ...plain, separatesTools: true }],
];

/**
 * The family of a model, by its id. The id of an application inference profile says nothing about the model behind it;
 * then the model's name decides.
 */
export function getFamily(model: Model): Family {
  for (const word of [model.id, model.name]) {
    const spelled = word.toLowerCase().replace(/[\s_.:/]+/g, "-");
    const row = families.find(([pattern]) => pattern.test(spelled));
    if (row) return row[1];
  }
  return plain;
}
