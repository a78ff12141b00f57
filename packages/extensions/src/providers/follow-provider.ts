/** Looks for the models and the key of a provider, once at the beginning and again when its key or login changes. */
import { getErrorMessage, isRecord, SerialQueue, withoutUndefined } from "@tau/ai/internal";
import { type AuthStorage, type Credential, literalKey } from "@tau/config/auth";
import type { ModelRegistry } from "@tau/config/models";
import type { ExtensionProblem } from "../api/extension.ts";
import type { ProviderConfig } from "./provider-config.ts";
import { ExtensionError } from "../errors.ts";

interface FollowParts {
  registry: ModelRegistry;
  auth: AuthStorage;
  allowNetwork: boolean;
  /** Registers the provider again, with other models or another key. */
  describe: (change: Pick<ProviderConfig, "models" | "apiKey">) => void;
  report: (problem: ExtensionProblem) => void;
}

/** `first` resolves when it has looked for the first time. It never rejects: what fails is reported. */
export function followProvider(
  name: string,
  config: ProviderConfig,
  parts: FollowParts,
): { first: Promise<void>; stop(): void } {
  const controller = new AbortController();
  const queue = new SerialQueue();
  const look = () =>
    queue.add(async () => {
      if (controller.signal.aborted) return;
      try {
        await update(name, config, parts, controller.signal);
      } catch (error) {
        if (controller.signal.aborted) return;
        parts.report({ extension: name, message: `Its models could not be listed: ${getErrorMessage(error)}` });
      }
    });
  const unsubscribe = parts.auth.subscribe(({ provider }) => void (provider === name && look()));
  return {
    first: look(),
    stop() {
      unsubscribe();
      controller.abort();
    },
  };
}

async function update(name: string, config: ProviderConfig, parts: FollowParts, signal: AbortSignal): Promise<void> {
  const { registry, auth, allowNetwork, describe } = parts;
  const { refreshModels, findKey, oauth, baseUrl } = config;
  const key = await findKey?.();
  const credential =
    refreshModels && allowNetwork
      ? ((await getUsable(name, auth, signal)) ?? (key === undefined ? undefined : { type: "api_key" as const, key }))
      : await auth.get(name);
  const publish = async ({ update: install }: { update?: () => void }) => {
    if (!signal.aborted) install?.();
    return !signal.aborted;
  };
  const context = { ...withoutUndefined({ credential, baseUrl }), allowNetwork, signal, publish };
  const models = refreshModels ? await refreshModels(context) : config.models;
  if (signal.aborted) return;
  const change = withoutUndefined({ models, apiKey: key === undefined ? config.apiKey : literalKey(key) });
  describe(change);
  if (credential?.type !== "oauth" || !oauth?.modifyModels) return;
  const modified: unknown = oauth.modifyModels(registry.getAll(), credential);
  if (!Array.isArray(modified) || !modified.every(isRecord))
    throw new ExtensionError("invalid_result", "modifyModels gave no list of models.");
  describe({ ...change, models: modified.filter(({ provider }) => provider === name).map(toDescription) });
}

/** The key or login that a request would have: a login is renewed if it has to be, and variables of a key are replaced. */
async function getUsable(name: string, auth: AuthStorage, signal: AbortSignal): Promise<Credential | undefined> {
  const outcome = await auth.getApiKey(name, { signal });
  // A variable that is not set is no key. What is stored is meant to work.
  if (outcome.kind === "failed" && outcome.source === "stored")
    throw new ExtensionError("unavailable", outcome.failure.message);
  const stored = await auth.get(name);
  if (outcome.kind !== "found") return stored;
  if (stored?.type === "oauth") return outcome.source === "stored" ? stored : { type: "api_key", key: outcome.key };
  return { ...stored, type: "api_key", key: outcome.key };
}

const toDescription = ({ provider: _provider, ...model }: Record<string, unknown>): Record<string, unknown> => model;
