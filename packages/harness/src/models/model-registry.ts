/**
 * Every model that can be asked: the catalogue with what was registered there, what `models.json` says, and what local
 * servers serve. A registry registers nothing itself: a request needs only the model, so two registries in one process
 * know nothing of each other.
 */
import { join } from "node:path";
import {
  type Clock,
  type Failure,
  getEnvApiKey,
  getModel,
  getModels,
  getProviders,
  type LocalProvider,
  getErrorMessage,
  type Model,
  systemClock,
} from "@tau/ai";
import { Listeners } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import type { ModelsKey } from "../auth/auth-options.ts";
import { HarnessError } from "../errors.ts";
import type { FileProblem } from "../file-problem.ts";
import { type BaseModels, ConfiguredModels } from "./configured.ts";
import {
  chooseDefault,
  type DefaultChoice,
  type DefaultModel,
  defaultModels,
  referenceOfChoice,
  defaultProviderOrder,
} from "./defaults.ts";
import { FileSource } from "./file-source.ts";
import { isLocalProvider, LocalModels, type LocalServerAddress, localProviders } from "./local-models.ts";
import { isLiteral, openHeaders } from "./overlay.ts";
import { type ModelResolution, type ResolvePreference, resolveModel, splitThinking } from "./resolve.ts";
import { type ModelScope, scopeModels } from "./scope.ts";
import type { ProviderConfig } from "./schema.ts";

/** Whether a provider can be used. `written` is the key in `models.json`, as written. Called often: cheap and pure. */
export type HasKey = (provider: string, written: string | undefined) => boolean;

/** Fills in what stands for a value: `$NAME`, `${NAME}`, `!command`. Undefined when there is no such value. */
export type ResolveValue = (written: string) => Promise<string | undefined>;

export interface ModelRegistryOptions {
  /** Default: a key is in the environment or in `models.json`. Local servers never need one. */
  hasKey?: HasKey;
  /** Default: nothing but literal values can be had. */
  resolveValue?: ResolveValue;
  /** Providers, the preferred first. Default: makers before those who serve other people's models. */
  providerOrder?: readonly string[];
  /** Local servers that are asked in the background from the start. Default: none; see `discover`. */
  localServers?: readonly LocalProvider[];
  /** How long a local server may take to answer. Default 1,500. */
  localTimeoutMs?: number;
  /** Default: the system's. */
  clock?: Clock;
}

export interface CreateModelRegistryOptions extends ModelRegistryOptions {
  /** Follow changes of `models.json`. Default true. */
  watch?: boolean;
  /** Default: the real one. */
  fileSystem?: FileSystem;
}

export interface InMemoryModelRegistryOptions extends ModelRegistryOptions {
  /** Models besides those of the catalogue; they come before those with the same provider and id. */
  models?: readonly Model[];
}

/** What a request needs besides the model. `unresolved`: a header stands for a value that is not there. */
export type RequestHeaders =
  | { kind: "ready"; headers: Record<string, string> }
  | { kind: "unresolved"; message: string };

/** For how long the answer of a local server counts. */
const localMaxAgeMs = 60_000;

export class ModelRegistry {
  readonly #options: Required<Omit<ModelRegistryOptions, "localServers">>;
  readonly #source: FileSource | undefined;
  readonly #local: LocalModels;
  readonly #base: BaseModels;
  #configured: ConfiguredModels;
  readonly #listeners = new Listeners<void>((error) => {
    this.#backgroundProblem = `A listener for changes of the models failed: ${getErrorMessage(error)}`;
  });
  #backgroundProblem: string | undefined;

  private constructor(options: ModelRegistryOptions, source: FileSource | undefined, extra: readonly Model[]) {
    const { hasKey = hasAnyKey, resolveValue = literalOnly, clock = systemClock } = options;
    const { providerOrder = defaultProviderOrder, localTimeoutMs = 1_500 } = options;
    this.#options = { hasKey, resolveValue, clock, providerOrder, localTimeoutMs };
    this.#source = source;
    this.#local = new LocalModels({ clock, timeoutMs: localTimeoutMs, maxAgeMs: localMaxAgeMs });
    this.#base = baseModels(this.#local, extra);
    this.#configured = new ConfiguredModels(this.#base, this.#configs);
  }

  /** Over the catalogue and `<agentDir>/models.json`, which need not exist. A file with mistakes is no error: see `problems`. */
  static async create(agentDir: string, options: CreateModelRegistryOptions = {}): Promise<ModelRegistry> {
    if (agentDir === "") throw new HarnessError("invalid_input", "A model registry needs the directory of its agent.");
    const { clock = systemClock, fileSystem = nodeFileSystem, watch = true } = options;
    const source = new FileSource({ path: join(agentDir, "models.json"), clock, fileSystem });
    const registry = new ModelRegistry(options, source, []);
    // First watched, then read: what changes in between is seen.
    if (watch)
      source.watch({
        onChange: () => registry.#inBackground(() => registry.refresh()),
        onError: (message) => {
          registry.#backgroundProblem = `${message} Changes count after a restart.`;
        },
      });
    await source.load();
    registry.#reconfigure();
    registry.#askAtStart(options.localServers);
    return registry;
  }

  /** Over the catalogue alone, with no file and nothing to close. */
  static inMemory({ models = [], ...options }: InMemoryModelRegistryOptions = {}): ModelRegistry {
    const registry = new ModelRegistry(options, undefined, models);
    registry.#askAtStart(options.localServers);
    return registry;
  }

  /** What is wrong with `models.json`, as things are now. */
  get problems(): FileProblem[] {
    const file = this.#source?.file;
    const background = this.#backgroundProblem;
    return [
      ...(file?.problems ?? []),
      ...(file ? this.#configured.problems(file.describe) : []),
      ...(background === undefined ? [] : [{ file: this.#source?.path ?? "models.json", message: background }]),
    ];
  }

  getAll(): Model[] {
    return this.#configured.providers().flatMap((provider) => this.#configured.list(provider));
  }

  /** The models whose provider can be used. */
  getAvailable(hasKey: HasKey = this.#options.hasKey): Model[] {
    return this.#configured
      .providers()
      .filter((provider) => this.#isUsable(provider, hasKey))
      .flatMap((provider) => this.#configured.list(provider));
  }

  /** By its exact names. A local server has every id. */
  find(provider: string, id: string): Model | undefined {
    return this.#configured.find(provider, id);
  }

  /** From what a person typed: see `resolveModel`. */
  resolve(spec: string): ModelResolution {
    const text = spec.trim();
    const exact = this.#findReference(text) ?? this.#findReference(splitThinking(text)?.head ?? "");
    return resolveModel(spec, exact ? [exact] : this.getAll(), this.#preference);
  }

  /** What a list of patterns stands for, among the models that can be used. */
  scope(patterns: readonly string[]): ModelScope {
    return scopeModels(patterns, this.getAvailable(), this.#preference);
  }

  /** Which model is used when nobody names one. */
  defaultModel(choice: DefaultChoice = {}): DefaultModel {
    // Whoever names a model in full needs no other provider's list.
    const exact = this.#findReference(referenceOfChoice(choice));
    const named = exact && chooseDefault([exact], choice, this.#preference);
    return named?.kind === "resolved" && named.because === "settings"
      ? named
      : chooseDefault(this.getAll(), choice, this.#preference);
  }

  /** A provider's key in `models.json`, as written: whoever resolves credentials knows what it stands for. */
  writtenKey(provider: string): string | undefined {
    return this.#configs.get(provider)?.apiKey;
  }

  /** The same with the host that it was written for, as whoever keeps credentials asks for it. */
  modelsKey(provider: string): ModelsKey | undefined {
    const key = this.writtenKey(provider);
    const host = this.baseUrl(provider);
    return key === undefined ? undefined : { key, isOwn: true, ...(host !== undefined && { host }) };
  }

  /** Where a provider is according to `models.json`; undefined when that does not move it. */
  baseUrl(provider: string): string | undefined {
    return this.#configs.get(provider)?.baseUrl;
  }

  /** A provider's name for people, if `models.json` gives it one. */
  displayName(provider: string): string | undefined {
    return this.#configs.get(provider)?.name;
  }

  /**
   * Headers that a request to the model needs beside those it carries: values that are not literal, and the key where
   * the file asks for it as `Authorization`.
   */
  async requestHeaders(model: Model, apiKey?: string): Promise<RequestHeaders> {
    const config = this.#configs.get(model.provider);
    if (!config) return { kind: "ready", headers: {} };
    const headers: Record<string, string> = {};
    for (const [name, written] of openHeaders(config, model.id)) {
      const value = await this.#options.resolveValue(written);
      if (value === undefined) {
        const message = `The header ${JSON.stringify(name)} of ${model.provider} in models.json has no value: what it refers to is not there.`;
        return { kind: "unresolved", message };
      }
      headers[name] = value;
    }
    if (config.authHeader && apiKey !== undefined) headers["authorization"] = `Bearer ${apiKey}`;
    return { kind: "ready", headers };
  }

  /** Called after models changed. Returns how to stop that. One that throws is reported in `problems`. */
  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Reads `models.json` again, now. */
  async refresh(): Promise<void> {
    if (!(await this.#source?.load())) return;
    this.#reconfigure();
    this.#listeners.emit();
  }

  /**
   * Asks local servers what they serve; what they answered in the last minute counts, unless `force`. Never rejects
   * for a server that is not there.
   */
  async discover(options: { servers?: readonly LocalProvider[]; force?: boolean } = {}): Promise<void> {
    const addresses = await Promise.all((options.servers ?? localProviders).map((server) => this.#getAddress(server)));
    if (await this.#local.ask(addresses, options.force)) this.#listeners.emit();
  }

  /** Why a local server did not say what it serves, when it was last asked. */
  localFailure(provider: LocalProvider): Failure | undefined {
    return this.#local.failure(provider);
  }

  /** Ends watching and asking. What was known stays known. */
  close(): void {
    this.#source?.close();
    this.#local.close();
    this.#listeners.clear();
  }

  get #configs(): ReadonlyMap<string, ProviderConfig> {
    return this.#source?.file.providers ?? new Map();
  }

  get #preference(): ResolvePreference {
    return {
      hasKey: (provider) => this.#isUsable(provider, this.#options.hasKey),
      providerOrder: this.#options.providerOrder,
      unlisted: (provider, id) => (isLocalProvider(provider) ? this.find(provider, id) : undefined),
      getDefault: (provider) => defaultModels.get(provider),
    };
  }

  #isUsable(provider: string, hasKey: HasKey): boolean {
    return isLocalProvider(provider) || hasKey(provider, this.writtenKey(provider));
  }

  /** Most references are exact, and then one provider's models are enough to look at. */
  #findReference(reference: string): Model | undefined {
    const slash = reference.indexOf("/");
    if (slash <= 0) return undefined;
    return this.#configured.find(reference.slice(0, slash), reference.slice(slash + 1), true);
  }

  async #getAddress(provider: LocalProvider): Promise<LocalServerAddress> {
    const { baseUrl, apiKey: written } = this.#configs.get(provider) ?? {};
    const apiKey = written === undefined || isLiteral(written) ? written : await this.#options.resolveValue(written);
    return { provider, ...(baseUrl !== undefined && { baseUrl }), ...(apiKey !== undefined && { apiKey }) };
  }

  #askAtStart(servers: readonly LocalProvider[] = []): void {
    if (servers.length > 0) this.#inBackground(() => this.discover({ servers }));
  }

  /** Nobody waits for it, so what goes wrong is said where people look. */
  #inBackground(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      this.#backgroundProblem = `The models could not be brought up to date: ${getErrorMessage(error)}`;
    });
  }

  #reconfigure(): void {
    this.#configured = new ConfiguredModels(this.#base, this.#configs);
  }
}

const hasAnyKey: HasKey = (provider, written) => written !== undefined || getEnvApiKey(provider) !== undefined;

const literalOnly: ResolveValue = (written) => Promise.resolve(isLiteral(written) ? written : undefined);

function baseModels(local: LocalModels, extra: readonly Model[]): BaseModels {
  const list = (provider: string) => {
    const own = extra.filter((model) => model.provider === provider);
    const served = local.list(provider);
    if (own.length === 0 && served.length === 0) return getModels(provider);
    const all = [...served, ...getModels(provider), ...own];
    return [...new Map(all.map((model) => [model.id, model])).values()];
  };
  return {
    providers: () => [...new Set([...extra.map(({ provider }) => provider), ...getProviders(), ...local.providers()])],
    list,
    find: (provider, id) =>
      isLocalProvider(provider)
        ? list(provider).find((model) => model.id === id)
        : (extra.find((model) => model.provider === provider && model.id === id) ?? getModel(provider, id)),
    assumed: (provider, id) => (isLocalProvider(provider) ? getModel(provider, id) : undefined),
  };
}
