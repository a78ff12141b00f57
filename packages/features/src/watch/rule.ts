/** A rule is a file `watch/NAME.md`: patterns in the front matter, and the text that the model gets when one matches. */
import { getErrorMessage } from "@tau/ai/internal";
import { createMatcher, type Matcher } from "./matcher.ts";

/** The parts of an answer: its text, its thinking, or the arguments of calls, of all tools or of one. */
export type WatchScope =
  | { readonly part: "text" | "thinking" }
  | { readonly part: "arguments"; readonly tool?: string };

export interface WatchRule {
  readonly name: string;
  /** The path of its file. */
  readonly path: string;
  /** For the model. */
  readonly text: string;
  readonly matchers: readonly Matcher[];
  readonly scopes: readonly WatchScope[];
  /** Whether it may stop several answers of a run. */
  readonly repeats: boolean;
}

/** A rule that does not apply. The reason is a sentence. */
export interface RefusedRule {
  readonly path: string;
  readonly reason: string;
}

type ReadRule = { readonly kind: "rule"; readonly rule: WatchRule } | ({ readonly kind: "refused" } & RefusedRule);

interface RuleFile {
  readonly name: string;
  readonly path: string;
  /** Undefined without front matter. */
  readonly fields: ReadonlyMap<string, { readonly value: unknown }> | undefined;
  readonly body: string;
}

const maxTextLength = 8_000;
const defaultScopes: readonly WatchScope[] = [{ part: "text" }, { part: "arguments" }];

/** Pure. */
export function readRule({ name, path, fields, body }: RuleFile): ReadRule {
  const refuse = (reason: string): ReadRule => ({ kind: "refused", path, reason });
  const get = (field: string) => fields?.get(field)?.value;
  const patterns = toTexts(get("match"));
  if (!patterns) return refuse("It needs a pattern, or a list of patterns, as `match` between two lines of dashes.");
  if (body === "") return refuse("It has no text for the model below the front matter.");
  if (body.length > maxTextLength) return refuse(`Its text is longer than ${maxTextLength} characters.`);
  const repeats = get("repeat") ?? false;
  if (typeof repeats !== "boolean") return refuse("`repeat` has to be true or false.");
  const scopes = get("scope") === undefined ? defaultScopes : toTexts(get("scope"))?.map(parseScope);
  if (!scopes || scopes.some((scope) => scope === undefined))
    return refuse("`scope` has to be `text`, `thinking`, `arguments`, `arguments:TOOL` or a list of these.");
  const matchers: Matcher[] = [];
  for (const pattern of patterns) {
    try {
      matchers.push(createMatcher(pattern));
    } catch (error) {
      return refuse(`The pattern ${JSON.stringify(pattern.slice(0, 100))} ${getErrorMessage(error)}.`);
    }
  }
  return { kind: "rule", rule: { name, path, text: body, matchers, scopes: scopes as WatchScope[], repeats } };
}

function toTexts(value: unknown): readonly string[] | undefined {
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  return list.length > 0 && list.every((item) => typeof item === "string" && item !== "")
    ? (list as string[])
    : undefined;
}

function parseScope(text: string): WatchScope | undefined {
  if (text === "text" || text === "thinking" || text === "arguments") return { part: text };
  const [, tool] = /^arguments:([\w-]+)$/.exec(text) ?? [];
  return tool === undefined ? undefined : { part: "arguments", tool };
}
