/** Adds the key, the headers, the time limits and the settings to each request. Retries belong to the run. */
import type { StreamFn } from "@tau/agent";
import { AssistantMessageEventStream, type Clock, type Failure, findEnvKeys, type Model } from "@tau/ai";
import { createAssistantMessage, getProviderInfo, withFailure } from "@tau/ai/internal";
import type { AuthStorage } from "@tau/config/auth";
import { isLocalProvider } from "@tau/config/internal";
import type { ModelRegistry } from "@tau/config/models";
import { type Settings, withProxySetting } from "@tau/config/settings";
import type { SessionKeys } from "./session-keys.ts";

interface RequestParts {
  auth: AuthStorage;
  registry: ModelRegistry;
  /** The environment of the session. */
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  streamFn: StreamFn;
  /** Picks one of several keys. */
  keys: Pick<SessionKeys, "getList">;
  /** Called with each key before it is used, so that it can be removed from logs. */
  onKey?: (key: string) => void;
}

interface RunOptionsParts {
  settings: () => Settings;
  sessionId: string;
  /** Variables that override those of the process. */
  env: Readonly<Record<string, string>>;
  /** Whether keys may come from the machine. */
  ambientCredentials: boolean;
  clock: Clock;
}

/**
 * Adds what every request of a session has, whoever sends it. No retries unless the user set some: a run that retries
 * after a stream function that retries would ask the same question many times.
 */
export function withRunOptions(
  streamFn: StreamFn,
  { settings, sessionId, env, ambientCredentials, clock }: RunOptionsParts,
): StreamFn {
  return (model, context, options) => {
    const { transport, thinkingBudgets, httpProxy, retry, httpIdleTimeoutMs } = settings();
    const { timeoutMs: idleTimeoutMs = httpIdleTimeoutMs, ...retries } = retry.provider;
    const cacheRetention = settings().cacheRetention ?? readRetention(process.env["PI_CACHE_RETENTION"]);
    const defaults = { ...retries, idleTimeoutMs, sessionId, transport, thinkingBudgets, clock };
    const serviceTier = getProviderInfo(model.provider)?.hasServiceTiers ? settings().serviceTier : undefined;
    const chosen = {
      ...(cacheRetention && { cacheRetention }),
      ...(serviceTier && { serviceTier }),
      ...toEnvOption({ ...env, ...getProxyEnv(httpProxy, ambientCredentials ? process.env : env) }),
      ...(!ambientCredentials && { ambientCredentials }),
    };
    return streamFn(model, context, { ...defaults, ...chosen, ...options });
  };
}

/** Reads pi's variable, whose one value is `long`. */
const readRetention = (value: string | undefined) => (value === "long" ? value : undefined);

const toEnvOption = (env: Record<string, string>) => (Object.keys(env).length === 0 ? {} : { env });

function getProxyEnv(httpProxy: string | undefined, env: Readonly<Record<string, string | undefined>>) {
  const proxy = withProxySetting(
    (name) => env[name],
    () => httpProxy,
  )("all_proxy");
  return proxy === undefined ? {} : { all_proxy: proxy };
}

/** Looks up keys and headers for each request, because tokens may expire while tools run. */
export function createRequests(parts: RequestParts): StreamFn {
  const { registry, clock, streamFn, onKey } = parts;
  return async (model, context, options) => {
    const lookup = await findKey(parts, model, options?.signal);
    if (lookup.kind === "failed") return failedStream(model, lookup.failure, clock.now());
    const { key, keyHint } = lookup;
    if (key !== undefined) onKey?.(key);
    const resolved = await registry.requestHeaders(model, key);
    if (resolved.kind === "unresolved") {
      return failedStream(model, { kind: "auth", message: resolved.message }, clock.now());
    }
    const headers = { ...resolved.headers, ...options?.headers };
    return streamFn(model, context, {
      ...options,
      keyHint,
      ...(key !== undefined && { apiKey: key }),
      ...(Object.keys(headers).length > 0 && { headers }),
    });
  };
}

type KeyLookup = { kind: "key"; key: string | undefined; keyHint: string } | { kind: "failed"; failure: Failure };

async function findKey(
  { auth, keys, env }: RequestParts,
  model: Model,
  signal: AbortSignal | undefined,
): Promise<KeyLookup> {
  const { provider, baseUrl } = model;
  const host = baseUrl === "" ? {} : { host: baseUrl };
  const outcome = await auth.getApiKey(provider, { ...host, ...(signal && { signal }), list: keys.getList(provider) });
  if (outcome.kind === "found") return { kind: "key", key: outcome.key, keyHint: auth.getKeyHint(provider, outcome) };
  if (outcome.kind === "failed") {
    const { kind, message } = outcome.failure;
    return { kind: "failed", failure: { kind: kind === "network" || kind === "aborted" ? kind : "auth", message } };
  }
  // Without a key, the request would use the one of the environment, which may not be sent to this host. The user reads
  // that a key is not sent, unless the server is local and needs none.
  if (
    findEnvKeys(provider, (name) => env[name])?.[0] !== undefined ||
    (outcome.isRefused && !isLocalProvider(provider))
  )
    return { kind: "failed", failure: { kind: "auth", message: outcome.reason } };
  return { kind: "key", key: undefined, keyHint: auth.getKeyHint(provider) };
}

/** A stream that fails without a request. */
export function failedStream(model: Model, failure: Failure, timestamp: number): AssistantMessageEventStream {
  const stream = new AssistantMessageEventStream();
  stream.end({ ...withFailure(createAssistantMessage(model, timestamp), failure), stopReason: "error" });
  return stream;
}
