/**
 * Finds what keeps a provider of an isolated extension from being used: all that the host would add of its own. Pure.
 */
import type { KnownApi } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";

/** They send the key that they are given. Others look for credentials of the user, or are code of another extension. */
const plainApis: readonly KnownApi[] = [
  "anthropic-messages",
  "google-generative-ai",
  "mistral-conversations",
  "openai-completions",
  "openai-responses",
];

/** A command, a variable, or a placeholder in an address. */
const isReference = (text: string): boolean => /^\s*!|\$|\{\w+\}/.test(text);

/** How other programs write a variable. */
const isVariableName = (text: string): boolean => /^[A-Z][A-Z0-9_]*$/.test(text);

/** Sentences for the user; undefined if nothing does. Every text in it is checked, whatever field it is in. */
export function findProviderProblem(
  name: string,
  config: unknown,
  isKnown: (provider: string) => boolean,
): string | undefined {
  if (isKnown(name))
    return `It changes the provider ${name}, which needs trust: the keys of the provider would go to another address.`;
  for (const [field, text] of listTexts("", config)) {
    if (isReference(text) || (field === "apiKey" && isVariableName(text)))
      return `Its provider ${name} takes a value from a variable or a command, which needs trust.`;
    if (field === "api" && !(plainApis as readonly string[]).includes(text))
      return `Its provider ${name} uses the API ${JSON.stringify(text)}, which needs trust: it may find keys by itself.`;
  }
  return undefined;
}

/** All texts at any depth, each with the name of its field. */
function listTexts(field: string, value: unknown): (readonly [field: string, text: string])[] {
  if (typeof value === "string") return [[field, value]];
  if (Array.isArray(value)) return value.flatMap((item) => listTexts(field, item));
  return isRecord(value) ? Object.entries(value).flatMap(([name, item]) => listTexts(name, item)) : [];
}
