/**
 * Model servers on the user's own machine. They need no key, and any model may be loaded into them, so every id is
 * accepted. All of them have OpenAI's chat completions API.
 */
import { platform } from "#platform";
import { getEnvApiKey } from "../auth/env-keys.ts";
import { type Clock, systemClock } from "../clock.ts";
import { AiError } from "../errors.ts";
import { classifyResponse, classifyThrown, type Failure } from "../failure.ts";
import type { Model, OpenAICompletionsCompat } from "../model.ts";
import type { Env } from "../platform/platform.ts";
import { asArray, asRecord, asString } from "../json.ts";
import { readText } from "../transport/http.ts";
import { withoutUserinfo } from "../userinfo.ts";
import { assumedLimits, assumedModel } from "./assumed-model.ts";
import { bearer, getProviderInfo } from "./index.ts";

interface LocalServer {
  baseUrl: string;
  /** The environment variable that the server's own tools read the address from. */
  hostVariable?: string;
}

export const localServers = {
  ollama: { baseUrl: "http://127.0.0.1:11434/v1", hostVariable: "OLLAMA_HOST" },
  lmstudio: { baseUrl: "http://127.0.0.1:1234/v1" },
  llamacpp: { baseUrl: "http://127.0.0.1:8080/v1", hostVariable: "LLAMA_BASE_URL" },
  vllm: { baseUrl: "http://127.0.0.1:8000/v1" },
} as const satisfies Record<string, LocalServer>;

export type LocalProvider = keyof typeof localServers;

export const isLocalProvider = (provider: string): provider is LocalProvider => Object.hasOwn(localServers, provider);

/** The flags of local servers. None of them accepts OpenAI's newer fields reliably; all accept the older ones. */
export const localServerCompat: OpenAICompletionsCompat = {
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsStrictMode: false,
  supportsLongCacheRetention: false,
  maxTokensField: "max_tokens",
  toolCallIdFormat: "any",
};

/** Without a fast GPU, a long prompt takes minutes before the first token is sent. */
const firstTokenTimeoutMs = 1_800_000;

/**
 * A model of a local server: text only, without thinking, free, with `assumedLimits`. Copy it to change a property:
 * `{ ...model, input: ["text", "image"] }`.
 */
export function createLocalModel(
  provider: LocalProvider,
  id: string,
  options: { baseUrl?: string; contextWindow?: number } = {},
): Model<"openai-completions"> {
  const contextWindow = options.contextWindow ?? assumedLimits.contextWindow;
  return {
    ...structuredClone(assumedModel),
    id,
    name: id,
    api: "openai-completions",
    provider,
    baseUrl: options.baseUrl ?? resolveLocalBaseUrl(provider),
    contextWindow,
    maxTokens: Math.min(assumedLimits.maxTokens, contextWindow),
    firstTokenTimeoutMs,
    compat: { ...localServerCompat },
  };
}

/** The base URL from the server's environment variable if it is set and valid, else the default port on this machine. */
export function resolveLocalBaseUrl(provider: LocalProvider, env: Env = platform.env): string {
  const server: LocalServer = localServers[provider];
  const host = server.hostVariable === undefined ? undefined : env(server.hostVariable);
  return (host === undefined ? undefined : parseHost(host, new URL(server.baseUrl).port)) ?? server.baseUrl;
}

/** Parses `host`, `host:port`, `:port` or a URL, like Ollama does. Undefined if it is none of these. */
function parseHost(host: string, defaultPort: string): string | undefined {
  const trimmed = host.trim();
  const hasScheme = /^https?:\/\//i.test(trimmed);
  const address = trimmed.startsWith(":") ? `127.0.0.1${trimmed}` : trimmed;
  const fullUrl = hasScheme ? trimmed : `http://${address}`;
  if (!URL.canParse(fullUrl)) return undefined;
  const url = new URL(fullUrl);
  // The server reads the same variable as the address to listen on. A client cannot connect to "all interfaces".
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  if (!hasScheme && url.port === "" && !/:\d+$/.test(trimmed)) url.port = defaultPort;
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path === "" ? "/v1" : path}`;
}

export interface ListLocalModelsOptions {
  signal?: AbortSignal;
  /** The base URL, including `/v1`. Default: from the server's environment variable, else its default port. */
  baseUrl?: string;
  apiKey?: string;
  /** Default 5,000. */
  timeoutMs?: number;
  /** Default: the system's. */
  clock?: Clock;
}

/** The models of a local server. If the request failed, `failure` is set and `models` is empty. */
export interface LocalModels {
  models: Model<"openai-completions">[];
  failure?: Failure;
}

/** Asks a local server for its models. A server that is not running is an expected failure: the promise resolves. */
export async function listLocalModels(
  provider: LocalProvider,
  options: ListLocalModelsOptions = {},
): Promise<LocalModels> {
  if (!isLocalProvider(provider)) {
    const known = Object.keys(localServers).join(", ");
    throw new AiError(
      "unknown_provider",
      `${JSON.stringify(provider)} is not a local server. The local servers are ${known}.`,
    );
  }
  const baseUrl = (options.baseUrl ?? resolveLocalBaseUrl(provider)).replace(/\/+$/, "");
  const outcome = await requestModels(provider, baseUrl, options);
  if (!("failure" in outcome)) return { models: parseModels(provider, baseUrl, outcome.body) };
  const { failure } = outcome;
  const name = getProviderInfo(provider)?.name ?? provider;
  return {
    models: [],
    failure: {
      ...failure,
      message: `${name} at ${withoutUserinfo(baseUrl)} did not list its models: ${failure.message}`,
    },
  };
}

/** Larger than any list of models. */
const maxListBytes = 4 * 1024 * 1024;

async function requestModels(
  provider: LocalProvider,
  baseUrl: string,
  options: ListLocalModelsOptions,
): Promise<{ body: unknown } | { failure: Failure }> {
  const { signal, timeoutMs = 5_000, clock = systemClock } = options;
  const abort = new AbortController();
  const onAbort = () => abort.abort();
  if (signal?.aborted) abort.abort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const cancelTimer = clock.setTimer(timeoutMs, onAbort);
  try {
    const key = options.apiKey ?? getEnvApiKey(provider, platform.env);
    const headers = { accept: "application/json", ...(key && { [bearer.name]: bearer.prefix + key }) };
    const response = await platform.send(
      { method: "GET", url: `${baseUrl}/models`, headers, body: "" },
      { signal: abort.signal, env: platform.env },
    );
    const body = await readText(response.body, maxListBytes);
    if (response.status < 200 || response.status >= 300) {
      return { failure: classifyResponse({ ...response, body }, clock.now()) };
    }
    return { body: JSON.parse(body) as unknown };
  } catch (error) {
    if (signal?.aborted) return { failure: { kind: "aborted", message: "The request was aborted." } };
    if (abort.signal.aborted) {
      return { failure: { kind: "idle_timeout", message: `There was no answer within ${timeoutMs} ms.` } };
    }
    const isNotJson = error instanceof SyntaxError;
    return { failure: isNotJson ? { kind: "unknown", message: "The answer was not JSON." } : classifyThrown(error) };
  } finally {
    cancelTimer();
    signal?.removeEventListener("abort", onAbort);
  }
}

function parseModels(provider: LocalProvider, baseUrl: string, body: unknown): Model<"openai-completions">[] {
  const entries = new Map(
    asArray(asRecord(body)["data"]).map((entry) => [asString(asRecord(entry)["id"]), asRecord(entry)]),
  );
  entries.delete("");
  return [...entries].map(([id, entry]) =>
    createLocalModel(provider, id, { baseUrl, contextWindow: parseContextWindow(entry) }),
  );
}

/**
 * vLLM reports the context window that it serves. llama.cpp reports only the window that the model was trained with,
 * which is larger than most servers are configured for, so it is only an upper bound.
 */
function parseContextWindow(entry: Record<string, unknown>): number {
  const trained = parseCount(asRecord(entry["meta"])["n_ctx_train"]) ?? Number.POSITIVE_INFINITY;
  return parseCount(entry["max_model_len"]) ?? Math.min(trained, assumedLimits.contextWindow);
}

const parseCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
