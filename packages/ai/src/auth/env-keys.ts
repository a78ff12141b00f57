import { platform } from "#platform";
import type { StreamOptions } from "../options.ts";
import type { Env } from "../platform/platform.ts";
import { getProviderInfo } from "../providers/index.ts";

/** The names of the provider's key variables that are set, most specific first; undefined if none is set. */
export function findEnvKeys(provider: string, env: Env = platform.env): string[] | undefined {
  const names = getProviderInfo(provider)?.keys.filter((name) => env(name)) ?? [];
  return names.length > 0 ? names : undefined;
}

/** The provider's key from the environment. */
export function getEnvApiKey(provider: string, env: Env = platform.env): string | undefined {
  const name = findEnvKeys(provider, env)?.[0];
  return name === undefined ? undefined : env(name);
}

/** The message for the user if a key is missing. `names` are the variables of the provider. */
export function describeMissingKey(
  provider: string,
  { keyHint }: { keyHint?: string | undefined },
  names: readonly string[] = getProviderInfo(provider)?.keys ?? [],
): string {
  const option = "the option apiKey of createAI or of the request";
  const hint = names.length > 0 ? `Set ${names.join(" or ")}, or use ${option}.` : `Use ${option}.`;
  return `There is no API key for ${provider}. ${keyHint ?? hint}`;
}

/** Where the key of a request is from, as a sentence. Undefined if it has none, but other credentials. */
export function describeKey(provider: string, { keyHint, apiKey }: StreamOptions, env: Env): string | undefined {
  const name = findEnvKeys(provider, env)?.[0];
  if (apiKey === undefined && name === undefined) {
    return getProviderInfo(provider)?.keyless ? describeMissingKey(provider, { keyHint }) : undefined;
  }
  if (keyHint !== undefined) return keyHint;
  if (apiKey !== undefined) return "The key is the one in the option apiKey.";
  return `The key is from the environment variable ${name}.`;
}
