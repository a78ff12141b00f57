/** Builds the hint that is shown with a message about a key that is missing or rejected. Pure. */
import { findEnvKeys } from "@tau/ai";
import type { KeySource } from "./key-source.ts";

interface KeyHintOptions {
  /** The key that was sent. Without it, there is none. */
  key?: { source: KeySource; origin: string };
  /** Whether `tau auth login` stores keys where they are read. */
  canLogIn: boolean;
  /** Whether the provider's login is that of an extension, which `tau auth login` does not know. */
  hasCustomLogin: boolean;
}

/** Formats the command with which a person logs in. */
export const formatLoginCommand = (provider: string, hasCustomLogin: boolean): string =>
  hasCustomLogin ? `/login ${provider}` : `tau auth login ${provider}`;

/** Where the key of a request is from, or how to give one. Whole sentences. */
export function formatKeyHint(provider: string, { key, canLogIn, hasCustomLogin }: KeyHintOptions): string {
  const logIn = formatLoginCommand(provider, hasCustomLogin);
  if (!key && hasCustomLogin) return `Log in: ${logIn}`;
  if (!key) {
    const names = findEnvKeys(provider, () => "any")?.join(" or ");
    // A stored key of such a provider is sent nowhere, because its hosts are not known.
    if (names === undefined) return `Add "apiKey" to ${provider} in models.json.`;
    return `Set ${names}, or ${canLogIn ? `store a key with ${logIn}` : "give a key to authStorage"}.`;
  }
  const origin = `The key is ${key.origin}.`;
  if (key.source === "models" || key.source === "settings") return `${origin} Correct it there.`;
  const canReplace = key.source !== "explicit" && (canLogIn || hasCustomLogin);
  return canReplace ? `${origin} To use another one: ${logIn}` : origin;
}
