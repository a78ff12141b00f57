/**
 * Servers on the person's own machine. They need no key, and they serve whatever was loaded into them, so any model id
 * is a model. They all speak OpenAI's chat completions.
 */
import { platform } from "#platform";
import { envApiKey } from "../auth/env-keys.ts";
import { type Clock, systemClock } from "../clock.ts";
import { AiError } from "../errors.ts";
import { classifyResponse, classifyThrown, type Failure } from "../failure.ts";
import type { Model, OpenAICompletionsCompat } from "../model.ts";
import type { Env } from "../platform/platform.ts";
import { asArray, asRecord, asString } from "../protocols/read.ts";
import { readText } from "../transport/http.ts";
import { withoutUserinfo } from "../userinfo.ts";
import { bearer, providers } from "./index.ts";

/** One kind of local server, as data. */
export interface LocalServer {
  baseUrl: string;
  /** The variable in which the server's own tools look for its address. */
  hostVariable?: string;
}

export const localServers = {
  ollama: { baseUrl: "http://127.0.0.1:11434/v1", hostVariable: "OLLAMA_HOST" },
  lmstudio: { baseUrl: "http://127.0.0.1:1234/v1" },
  llamacpp: { baseUrl: "http://127.0.0.1:8080/v1" },
  vllm: { baseUrl: "http://127.0.0.1:8000/v1" },
} as const satisfies Record<string, LocalServer>;

export type LocalProvider = keyof typeof localServers;

export const isLocalProvider = (provider: string): provider is LocalProvider => Object.hasOwn(localServers, provider);

/**
 * What is assumed of a model that says nothing about itself. Enough for an agent to work in, and little enough that
 * most servers were started with as much; a server with less drops part of the prompt, which the answer then reports.
 */
export const assumedLimits = { contextWindow: 32_768, maxTokens: 8_192 } as const;

/** None of the four takes OpenAI's newer fields reliably; all take the older ones. */
const compat: OpenAICompletionsCompat = {
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsStrictMode: false,
  supportsLongCacheRetention: false,
  maxTokensField: "max_tokens",
  toolCallIdFormat: "any",
};

/** Reading a long prompt without a fast GPU takes minutes, and nothing is sent meanwhile. */
const firstTokenTimeoutMs = 1_800_000;

/**
 * A model of a local server, known by its id alone: text only, without thinking, free, with `assumedLimits`. Spread it
 * to say more: `{ ...model, input: ["text", "image"] }`.
 */
export function localModel(
  provider: LocalProvider,
  id: string,
  known: { baseUrl?: string; contextWindow?: number } = {},
): Model<"openai-completions"> {
  const contextWindow = known.contextWindow ?? assumedLimits.contextWindow;
  return {
    id,
    name: id,
    api: "openai-completions",
    provider,
    baseUrl: known.baseUrl ?? localBaseUrl(provider),
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow,
    maxTokens: Math.min(assumedLimits.maxTokens, contextWindow),
    firstTokenTimeoutMs,
    compat: { ...compat },
  };
}

/** Where the server is: its own variable if that is set and readable, else its usual port on this machine. */
export function localBaseUrl(provider: LocalProvider, env: Env = platform.env): string {
  const server: LocalServer = localServers[provider];
  const host = server.hostVariable === undefined ? undefined : env(server.hostVariable);
  return (host === undefined ? undefined : parseHost(host, new URL(server.baseUrl).port)) ?? server.baseUrl;
}

/** `host`, `host:port`, `:port` or a URL, as Ollama reads its variable. Undefined when it is none of these. */
function parseHost(host: string, defaultPort: string): string | undefined {
  const trimmed = host.trim();
  const hasScheme = /^https?:\/\//i.test(trimmed);
  const address = trimmed.startsWith(":") ? `127.0.0.1${trimmed}` : trimmed;
  const written = hasScheme ? trimmed : `http://${address}`;
  if (!URL.canParse(written)) return undefined;
  const url = new URL(written);
  // The same variable tells the server on which interfaces to listen; a client cannot connect to "all of them".
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  if (!hasScheme && url.port === "" && !/:\d+$/.test(trimmed)) url.port = defaultPort;
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path === "" ? "/v1" : path}`;
}

export interface ListLocalModelsOptions {
  signal?: AbortSignal;
  /** Where the server is, with `/v1`. Default: the server's usual place. */
  baseUrl?: string;
  apiKey?: string;
  /** Default 5,000: a server that is there answers at once. */
  timeoutMs?: number;
  /** Default: the system's. */
  clock?: Clock;
}

/** What a local server serves. With `failure`, it could not be asked, and `models` is empty. */
export interface LocalModels {
  models: Model<"openai-completions">[];
  failure?: Failure;
}

/** Asks a local server what it serves. A server that is not running is an answer, not an error. */
export async function listLocalModels(
  provider: LocalProvider,
  options: ListLocalModelsOptions = {},
): Promise<LocalModels> {
  if (!isLocalProvider(provider)) {
    const known = Object.keys(localServers).join(", ");
    throw new AiError("unknown_provider", `${JSON.stringify(provider)} is not a local server; there are ${known}.`);
  }
  const baseUrl = (options.baseUrl ?? localBaseUrl(provider)).replace(/\/+$/, "");
  const asked = await askForModels(provider, baseUrl, options);
  if (!("failure" in asked)) return { models: parseModels(provider, baseUrl, asked.body) };
  const { failure } = asked;
  const name = providers[provider]?.name ?? provider;
  return {
    models: [],
    failure: {
      ...failure,
      message: `${name} at ${withoutUserinfo(baseUrl)} did not list its models: ${failure.message}`,
    },
  };
}

/** More than any list of models; a server that sends more is not one of ours. */
const maxListBytes = 4 * 1024 * 1024;

async function askForModels(
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
    const key = options.apiKey ?? envApiKey(provider, platform.env);
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
    return { failure: whyNot(error, signal, abort.signal, timeoutMs) };
  } finally {
    cancelTimer();
    signal?.removeEventListener("abort", onAbort);
  }
}

function whyNot(error: unknown, signal: AbortSignal | undefined, limit: AbortSignal, timeoutMs: number): Failure {
  if (signal?.aborted) return { kind: "aborted", message: "The request was aborted." };
  if (limit.aborted) return { kind: "idle_timeout", message: `There was no answer within ${timeoutMs} ms.` };
  if (error instanceof SyntaxError) return { kind: "unknown", message: "The answer was not JSON." };
  return classifyThrown(error);
}

function parseModels(provider: LocalProvider, baseUrl: string, body: unknown): Model<"openai-completions">[] {
  const entries = new Map(
    asArray(asRecord(body)["data"]).map((entry) => [asString(asRecord(entry)["id"]), asRecord(entry)]),
  );
  entries.delete("");
  return [...entries].map(([id, entry]) => {
    const contextWindow = parseWindow(entry);
    return localModel(provider, id, { baseUrl, ...(contextWindow !== undefined && { contextWindow }) });
  });
}

/**
 * vLLM says how long a prompt it serves. llama.cpp says only how long a prompt the model was trained on, which is more
 * than most servers are started with: a bound, not a window.
 */
function parseWindow(entry: Record<string, unknown>): number | undefined {
  const served = tokens(entry["max_model_len"]);
  if (served !== undefined) return served;
  const trained = tokens(asRecord(entry["meta"])["n_ctx_train"]);
  return trained === undefined ? undefined : Math.min(trained, assumedLimits.contextWindow);
}

const tokens = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
