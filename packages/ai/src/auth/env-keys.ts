import { platform } from "#platform";
import type { Env } from "../platform/platform.ts";
import { providers } from "../providers/index.ts";

/** The names of the variables that hold a provider's key and are set, most specific first. */
export function findEnvKeys(provider: string, env: Env = platform.env): string[] | undefined {
  const found = providers[provider]?.keys.filter((name) => env(name));
  return found && found.length > 0 ? found : undefined;
}

/** The provider's key from the environment. */
export function getEnvApiKey(provider: string): string | undefined {
  return envApiKey(provider, platform.env);
}

export function envApiKey(provider: string, env: Env): string | undefined {
  const name = findEnvKeys(provider, env)?.[0];
  return name === undefined ? undefined : env(name);
}

/** What to tell a person who has no key yet. */
export function missingKeyText(provider: string): string {
  const names = providers[provider]?.keys ?? [];
  const where = names.length > 0 ? `Set ${names.join(" or ")}, or pass apiKey.` : "Pass apiKey.";
  return `There is no API key for ${provider}. ${where}`;
}
