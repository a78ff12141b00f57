import { platform } from "#platform";
import type { Env } from "../platform/platform.ts";
import { providers } from "../providers/index.ts";

/** The names of the provider's key variables that are set, most specific first; undefined if none is set. */
export function findEnvKeys(provider: string, env: Env = platform.env): string[] | undefined {
  const names = providers[provider]?.keys.filter((name) => env(name)) ?? [];
  return names.length > 0 ? names : undefined;
}

/** The provider's key from the environment. */
export function getEnvApiKey(provider: string, env: Env = platform.env): string | undefined {
  const name = findEnvKeys(provider, env)?.[0];
  return name === undefined ? undefined : env(name);
}

/** The message for the user if a key is missing. */
export function describeMissingKey(provider: string): string {
  const names = providers[provider]?.keys ?? [];
  const hint = names.length > 0 ? `Set ${names.join(" or ")}, or pass apiKey.` : "Pass apiKey.";
  return `There is no API key for ${provider}. ${hint}`;
}
