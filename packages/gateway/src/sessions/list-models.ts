/** The models that can be used, without a session. Runs no key command and contacts no server. */
import { findEnvKeys, type Model } from "@tau/ai";
import { AuthStorage, chooseKeyChain } from "@tau/config/auth";
import { ModelRegistry } from "@tau/config/models";
import type { SettingsManager } from "@tau/config/settings";

export async function listModels(agentDir: string, settings: SettingsManager): Promise<readonly Model[]> {
  const env = (name: string) => process.env[name];
  // Only the names of the providers are read, not the keys.
  const auth = AuthStorage.create(agentDir, { keyChain: chooseKeyChain(() => settings.get()) });
  const stored = new Map((await auth.list()).map((info) => [info.provider, info]));
  const registry = await ModelRegistry.create(agentDir, {
    watch: false,
    getSettings: () => settings.get(),
    hasKey: (provider, key) => key !== undefined || stored.has(provider) || findEnvKeys(provider, env) !== undefined,
    getServed: (provider) => stored.get(provider)?.serves,
  });
  const models = registry.getAvailable();
  registry.close();
  return models;
}
