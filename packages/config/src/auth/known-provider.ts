/** Whether a key or a login can be stored for a provider. */
import { getProviders } from "@tau/ai";
import { didYouMean, toProviderId } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";

/** Where the names of providers come from. */
export interface ProviderSources {
  auth: { getLogins(): readonly { id: string }[] };
  registry: { getAll(): readonly { provider: string }[] };
}

/** Throws `invalid_input` for a name that no provider has: a key would be stored that nothing uses. */
export function checkProvider(provider: string, { auth, registry }: ProviderSources): void {
  const logins = auth.getLogins().map(({ id }) => id);
  const names = new Set([...registry.getAll().map((model) => model.provider), ...getProviders(), ...logins]);
  if (names.has(toProviderId(provider))) return;
  const known = [...names].sort();
  const hint = didYouMean(provider, known) || ` The providers are: ${known.join(", ")}.`;
  const message = `There is no provider ${JSON.stringify(provider)}.${hint} You can add your own in models.json.`;
  throw new HarnessError("invalid_input", message);
}
