import { findEnvKeys } from "@tau/ai";
import {
  type AuthNotice,
  chooseKeyChain,
  createSystemKeyChain,
  type CredentialInfo,
  type KeyChain,
  AuthStorage,
} from "@tau/config/auth";
import { ModelRegistry } from "@tau/config/models";
import { SettingsManager, withProxySetting } from "@tau/config/settings";
import type { Io } from "./command.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";

/** Keys and models, without a session. */
export interface Access {
  agentDir: string;
  auth: AuthStorage;
  registry: ModelRegistry;
  /** The stored keys and logins, by provider. */
  stored: ReadonlyMap<string, CredentialInfo>;
  /** The user's own settings. */
  settings: SettingsManager;
  keyChain: KeyChain;
  /** The environment, with the proxy of the settings. */
  env: (name: string) => string | undefined;
  /** Problems with `auth.json`, as far as it was read. */
  notices: readonly AuthNotice[];
  close: () => Promise<void>;
}

/** Runs no key command and contacts no server. */
export async function openAccess(io: Io): Promise<Access> {
  const agentDir = getAgentDir(io);
  const notices: AuthNotice[] = [];
  const settings = await SettingsManager.create(io.cwd, agentDir, { watch: false });
  const env = withProxySetting(
    (name) => io.env[name],
    () => settings.get().httpProxy,
  );
  const keyChain = io.keyChain ?? createSystemKeyChain();
  const auth = AuthStorage.create(agentDir, {
    env,
    ...(io.oauthProviders && { oauthProviders: io.oauthProviders }),
    keyChain: chooseKeyChain(() => settings.get(), keyChain),
    onNotice: (notice) => notices.push(notice),
    modelsKey: (provider) => registry.modelsKey(provider),
    getHosts: (provider) => registry.getHosts(provider),
  });
  const stored = new Map((await auth.list()).map((info) => [info.provider, info]));
  const registry: ModelRegistry = await ModelRegistry.create(agentDir, {
    watch: false,
    getSettings: () => settings.get(),
    env,
    hasKey: (provider, key) => key !== undefined || stored.has(provider) || findEnvKeys(provider, env) !== undefined,
    getServed: (provider) => stored.get(provider)?.serves,
  });
  return { agentDir, auth, registry, stored, settings, keyChain, env, notices, close: async () => registry.close() };
}

export const listProviders = (registry: ModelRegistry): string[] =>
  [...new Set(registry.getAll().map(({ provider }) => provider))].sort();

/** Where a stored credential is, for messages. */
export const formatPlace = (place: CredentialInfo["place"]): string =>
  place === "keychain" ? "key chain" : "auth.json";

/** Reports problems with `auth.json` on standard error. */
export function reportNotices({ notices }: Access, io: Io): void {
  for (const { message } of notices) io.err(`tau: ${message}\n`);
}
