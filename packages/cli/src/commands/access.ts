import { findEnvKeys } from "@tau/ai";
import type { AuthNotice } from "@tau/harness/auth";
import { AuthStorage, ModelRegistry } from "@tau/harness";
import type { Io } from "../command.ts";
import { getAgentDir } from "../agent-dir.ts";

/** Keys and models, without a session. */
export interface Access {
  agentDir: string;
  auth: AuthStorage;
  registry: ModelRegistry;
  /** The providers that have a stored key or login. */
  stored: ReadonlySet<string>;
  /** Problems with `auth.json`, as far as it was read. */
  notices: readonly AuthNotice[];
  close: () => Promise<void>;
}

/** Runs no key command and contacts no server. */
export async function openAccess(io: Io): Promise<Access> {
  const agentDir = getAgentDir(io);
  const env = (name: string) => io.env[name];
  const notices: AuthNotice[] = [];
  const auth = AuthStorage.create(agentDir, {
    env,
    ...(io.oauthProviders && { oauthProviders: io.oauthProviders }),
    onNotice: (notice) => notices.push(notice),
    modelsKey: (provider) => registry.modelsKey(provider),
  });
  const stored = new Set((await auth.list()).map(({ provider }) => provider));
  const registry: ModelRegistry = await ModelRegistry.create(agentDir, {
    watch: false,
    hasKey: (provider, key) => key !== undefined || stored.has(provider) || findEnvKeys(provider, env) !== undefined,
  });
  return { agentDir, auth, registry, stored, notices, close: async () => registry.close() };
}

export const listProviders = (registry: ModelRegistry): string[] =>
  [...new Set(registry.getAll().map(({ provider }) => provider))].sort();

/** Reports problems with `auth.json` on standard error. */
export function reportNotices({ notices }: Access, io: Io): void {
  for (const { message } of notices) io.err(`tau: ${message}\n`);
}
