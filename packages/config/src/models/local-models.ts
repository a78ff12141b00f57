/** The models of local servers, as of when they were last asked. */
import { type Clock, type Failure, listLocalModels, type LocalProvider, type Model } from "@tau/ai";
import { withoutUndefined } from "@tau/ai/internal";

export const localProviders = ["ollama", "lmstudio", "llamacpp", "vllm"] as const satisfies readonly LocalProvider[];

export const isLocalProvider = (provider: string): provider is LocalProvider =>
  (localProviders as readonly string[]).includes(provider);

export interface LocalServerAddress {
  provider: LocalProvider;
  /** Default: the server's usual address. */
  baseUrl?: string;
  apiKey?: string;
}

interface LocalModelsOptions {
  clock: Clock;
  /** How long a server may take to answer. */
  timeoutMs: number;
  /** How long an answer applies, also that no server is running. */
  maxAgeMs: number;
}

interface Known {
  askedAtMs: number;
  baseUrl: string | undefined;
  models: readonly Model[];
  failure?: Failure;
}

export class LocalModels {
  readonly #options: LocalModelsOptions;
  readonly #known = new Map<LocalProvider, Known>();
  readonly #asking = new Map<LocalProvider, Promise<boolean>>();
  readonly #closed = new AbortController();

  constructor(options: LocalModelsOptions) {
    this.#options = options;
  }

  /** The servers that have models. */
  providers(): LocalProvider[] {
    return [...this.#known].flatMap(([provider, { models }]) => (models.length > 0 ? [provider] : []));
  }

  list(provider: string): readonly Model[] {
    return (isLocalProvider(provider) && this.#known.get(provider)?.models) || [];
  }

  /** Why a server did not answer. Undefined for a server that is not running. */
  failure(provider: LocalProvider): Failure | undefined {
    return this.#known.get(provider)?.failure;
  }

  /**
   * Asks all servers at the same time. Resolves to whether anything changed. A server that was asked recently is not asked
   * again, unless its address changed or `isForced`. Does not reject if a server fails.
   */
  async ask(servers: readonly LocalServerAddress[], isForced = false): Promise<boolean> {
    const changed = await Promise.all(servers.map((server) => this.#askOnce(server, isForced)));
    return changed.includes(true);
  }

  close(): void {
    this.#closed.abort();
  }

  #askOnce(server: LocalServerAddress, isForced: boolean): Promise<boolean> {
    const { provider, baseUrl } = server;
    const known = this.#known.get(provider);
    const ageMs = known ? this.#options.clock.monotonic() - known.askedAtMs : Number.POSITIVE_INFINITY;
    const running = this.#asking.get(provider);
    if (running) return running;
    if (!isForced && known && known.baseUrl === baseUrl && ageMs < this.#options.maxAgeMs)
      return Promise.resolve(false);
    const asking = this.#ask(server).finally(() => this.#asking.delete(provider));
    this.#asking.set(provider, asking);
    return asking;
  }

  async #ask({ provider, baseUrl, apiKey }: LocalServerAddress): Promise<boolean> {
    const { clock, timeoutMs } = this.#options;
    const { signal } = this.#closed;
    const options = { clock, timeoutMs, signal, ...withoutUndefined({ baseUrl, apiKey }) };
    const { models, failure } = await listLocalModels(provider, options);
    if (signal.aborted) return false;
    const before = this.#known.get(provider);
    // A server that is too busy to answer still has its models; one that is not running has none.
    const keepsModels = failure !== undefined && failure.kind !== "network" && before?.baseUrl === baseUrl;
    const now = keepSame(before?.models ?? [], keepsModels ? (before?.models ?? []) : models);
    this.#known.set(provider, { askedAtMs: clock.monotonic(), baseUrl, models: now, ...(failure && { failure }) });
    return now !== before?.models && (now.length > 0 || (before?.models.length ?? 0) > 0);
  }
}

/** Keeps models that are unchanged, so that a comparison by identity sees no change. */
function keepSame(before: readonly Model[], now: readonly Model[]): readonly Model[] {
  if (now === before) return before;
  const kept = now.map((model) => before.find((old) => JSON.stringify(old) === JSON.stringify(model)) ?? model);
  return kept.length === before.length && kept.every((model, index) => model === before[index]) ? before : kept;
}
