/** One request with everything that it needs: the key for its host, headers, time limits. Retries belong to the run. */
import type { StreamFn } from "@tau/agent";
import {
  AssistantMessageEventStream,
  type Clock,
  emptyUsage,
  type Failure,
  findEnvKeys,
  type Model,
  type SimpleStreamOptions,
} from "@tau/ai";
import type { AuthStorage } from "../auth/auth-storage.ts";
import { isLocalProvider } from "../models/local-models.ts";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { Settings } from "../settings/schema.ts";

export interface RequestParts {
  auth: AuthStorage;
  registry: ModelRegistry;
  settings: () => Settings;
  sessionId: string;
  clock: Clock;
  streamFn: StreamFn;
  /** Told each key before it is used, so that no log ever shows it. */
  onKey?: (key: string) => void;
}

/** Without a token for so long, a provider is taken to be gone. */
export const idleTimeoutMs = 120_000;

/** A stream function that looks up keys and headers for each request: tokens may end while tools run. */
export function createRequests(parts: RequestParts): StreamFn {
  return async (model, context, options) => {
    const key = await keyFor(parts, model, options?.signal);
    if (key.kind === "failed") return failedStream(model, key.failure, parts.clock.now());
    if (key.key !== undefined) parts.onKey?.(key.key);
    const given = await parts.registry.requestHeaders(model, key.key);
    if (given.kind === "unresolved") {
      return failedStream(model, { kind: "auth", message: given.message }, parts.clock.now());
    }
    const headers = { ...given.headers, ...options?.headers };
    return parts.streamFn(model, context, {
      ...requestOptions(parts),
      ...options,
      ...(key.key !== undefined && { apiKey: key.key }),
      ...(Object.keys(headers).length > 0 && { headers }),
    });
  };
}

/** What every request of a session is asked with. */
export function requestOptions({ settings, sessionId, clock }: Pick<RequestParts, "settings" | "sessionId" | "clock">) {
  const { transport, thinkingBudgets } = settings();
  const options = { maxRetries: 0, idleTimeoutMs, sessionId, transport, thinkingBudgets, clock };
  return options satisfies SimpleStreamOptions;
}

type Key = { kind: "key"; key: string | undefined } | { kind: "failed"; failure: Failure };

async function keyFor({ auth }: RequestParts, model: Model, signal: AbortSignal | undefined): Promise<Key> {
  const { provider, baseUrl } = model;
  const host = baseUrl === "" ? {} : { host: baseUrl };
  const found = await auth.getApiKey(provider, { ...host, ...(signal && { signal }) });
  if (found.kind === "found") return { kind: "key", key: found.key };
  if (found.kind === "failed") {
    const { kind, message } = found.failure;
    return { kind: "failed", failure: { kind: kind === "network" || kind === "aborted" ? kind : "auth", message } };
  }
  // Without a key the request would take the one of the environment, which is not meant for this host. That a key of
  // somebody's is not sent has to be said, unless the server is one that does without.
  if (findEnvKeys(provider)?.[0] !== undefined || (found.isRefused && !isLocalProvider(provider)))
    return { kind: "failed", failure: { kind: "auth", message: found.reason } };
  return { kind: "key", key: undefined };
}

/** A stream that has failed before anybody was asked. */
export function failedStream(model: Model, failure: Failure, timestamp: number): AssistantMessageEventStream {
  const stream = new AssistantMessageEventStream();
  const { api, provider, id } = model;
  stream.end({
    role: "assistant",
    content: [],
    api,
    provider,
    model: id,
    usage: emptyUsage(),
    stopReason: "error",
    errorMessage: failure.message,
    failure,
    timestamp,
  });
  return stream;
}
