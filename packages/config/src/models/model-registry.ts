/**
 * All models: those of the catalogue, including registered ones, those of `models.json` and `models.yml`, and those of local
 * servers. A registry registers nothing itself, so that several registries in one process are independent.
 */
import { join } from "node:path";
import { type Clock, type Failure, getEnvApiKey, type LocalProvider, type Model, systemClock } from "@tau/ai";
import { getErrorMessage, Listeners, toProviderId } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import type { ModelsKey } from "../auth/key-source.ts";
import { check, createCheck, fn, param } from "../fields/arguments.ts";
import { jsonObject, text } from "../fields/kinds.ts";
import type { FileProblem } from "../files/file-problem.ts";
import { createBaseModels } from "./base-models.ts";
import { type GetServed, withLogins } from "./login-models.ts";
import { StoredCatalogue } from "./catalogue/stored-catalogue.ts";
import { type BaseModels, ConfiguredModels } from "./configured.ts";
import { type DefaultChoice, type DefaultModel, defaultProviderOrder } from "./defaults.ts";
import { listKeys } from "./key-ring.ts";
import { isLocalProvider, LocalModels, type LocalServerAddress, localProviders } from "./local-models.ts";
import { ModelFiles } from "./model-files.ts";
import { ModelNames } from "./model-names.ts";
import type { ParseProviderOptions } from "./models-file.ts";
import { emptyModelsYml, type ModelsYml } from "./models-yml.ts";
import { isLiteral, getUnresolvedHeaders } from "./overlay.ts";
import { ProviderConfigs } from "./provider-configs.ts";
import type { ModelResolution } from "./resolve.ts";
import { mergeRoles, type ModelSettings, type RoleModels } from "./roles.ts";
import type { ModelScope } from "./scope.ts";
import { VirtualModels } from "./virtual-models.ts";

/** Whether a provider can be used. `written` is its key in `models.json`, as written. It is called often: keep it fast. */
export type HasKey = (provider: string, written: string | undefined) => boolean;

/** Resolves `$NAME`, `${NAME}` and `!command`. Undefined if there is no such value. */
export type ResolveValue = (written: string) => Promise<string | undefined>;

export interface ModelRegistryOptions {
  /** Default: a key is in the environment or in `models.json`. Local servers never need one. */
  hasKey?: HasKey;
  /** Returns what a stored login serves. It is called often: keep it fast. Default: the models of each provider as they are. */
  getServed?: GetServed;
  /** Default: only literal values can be resolved. */
  resolveValue?: ResolveValue;
  /** Providers in order of preference. Default: `defaultProviderOrder`. */
  providerOrder?: readonly string[];
  /** The settings that say which models roles are and which is the default. Default: none. */
  getSettings?: () => ModelSettings;
  /** Local servers to ask for their models in the background at the start. Default: none; see `discover`. */
  localServers?: readonly LocalProvider[];
  /** The most milliseconds a local server may take to answer. Default 1,500. */
  localTimeoutMs?: number;
  /** Default: the system's. */
  clock?: Clock;
}

export interface CreateModelRegistryOptions extends ModelRegistryOptions {
  /** Whether `models.json` and `models.yml` are watched. Default true. */
  watch?: boolean;
  /** The variables that keys of `models.yml` refer to: without its variables there is no key. Default: those of the process. */
  env?: (name: string) => string | undefined;
  /** Default: the real one. */
  fileSystem?: FileSystem;
}

export interface InMemoryModelRegistryOptions extends ModelRegistryOptions {
  /** More models; they replace those of the catalogue with the same provider and id. */
  models?: readonly Model[];
}

/** `unresolved`: a header refers to a value that does not exist. */
export type RequestHeaders =
  | { kind: "ready"; headers: Record<string, string> }
  | { kind: "unresolved"; message: string };

/** How long the answer of a local server applies. */
const localMaxAgeMs = 60_000;

const checkArguments = createCheck({
  agentDir: check(
    "a directory (ModelRegistry.inMemory() needs none)",
    (value) => typeof value === "string" && value !== "",
  ),
  options: jsonObject,
  spec: text,
  provider: param(text),
  listener: fn,
});

export class ModelRegistry {
  readonly #options: Required<Omit<ModelRegistryOptions, "localServers" | "getServed">>;
  readonly #files: ModelFiles | undefined;
  /** The models that the user added to the catalogue. */
  readonly #renewed: StoredCatalogue | undefined;
  readonly #local: LocalModels;
  readonly #base: BaseModels;
  #configured: ConfiguredModels;
  #writtenValues: readonly string[] | undefined;
  readonly #providers: ProviderConfigs;
  readonly #virtual = new VirtualModels();
  readonly #names: ModelNames;
  readonly #listeners = new Listeners<void>((error) => {
    this.#backgroundProblem = `A listener for model changes failed: ${getErrorMessage(error)}`;
  });
  #backgroundProblem: string | undefined;

  private constructor(options: ModelRegistryOptions, { files, renewed, extra = [] }: ModelSources) {
    const { hasKey = hasAnyKey, resolveValue = literalOnly, clock = systemClock } = options;
    const { providerOrder = defaultProviderOrder, localTimeoutMs = 1_500, getSettings = () => ({}) } = options;
    this.#options = { hasKey, resolveValue, clock, providerOrder, localTimeoutMs, getSettings };
    this.#files = files;
    this.#renewed = renewed;
    this.#local = new LocalModels({ clock, timeoutMs: localTimeoutMs, maxAgeMs: localMaxAgeMs });
    const listExtra = () => (this.#virtual.isEmpty ? extra : [...extra, ...this.#virtual.list()]);
    const base = createBaseModels({ local: this.#local, listExtra, renewed });
    this.#base = withLogins(base, (provider) => {
      const served = options.getServed?.(provider);
      // Keys in the settings have precedence over the login, and serve the models as they are.
      return served && this.listKeys(provider).length === 0 ? served : undefined;
    });
    this.#providers = new ProviderConfigs(files);
    this.#configured = new ConfiguredModels(this.#base, this.#providers.all);
    this.#names = new ModelNames({
      getModels: () => this.#configured,
      isUsable: (provider) => this.#isUsable(provider, hasKey),
      getRoles: () => this.getRoles(),
      getSettings,
      providerOrder,
    });
  }

  /**
   * With the catalogue, what `<agentDir>/catalogue.json` adds to it, `<agentDir>/models.json` and `<agentDir>/models.yml`.
   * The files may be missing. Does not fail for a file with errors: see `problems`.
   */
  static async create(agentDir: string, options: CreateModelRegistryOptions = {}): Promise<ModelRegistry> {
    checkArguments({ agentDir, options });
    const { clock = systemClock, fileSystem = nodeFileSystem, watch = true } = options;
    const { env = (name) => process.env[name] } = options;
    const files = new ModelFiles({ agentDir, clock, fileSystem, env });
    const renewed = new StoredCatalogue(join(agentDir, "catalogue.json"));
    const registry = new ModelRegistry(options, { files, renewed });
    // Watched before it is read, so that no change is missed.
    if (watch)
      files.watch({
        onChange: () => registry.#inBackground(() => registry.refresh()),
        onError: (message) => {
          registry.#backgroundProblem = `${message} Changes take effect after a restart.`;
        },
      });
    await files.load();
    registry.#reconfigure();
    registry.#discoverAtStart(options.localServers);
    return registry;
  }

  /** With the catalogue alone: there is no file, and nothing to close. */
  static inMemory({ models = [], ...options }: InMemoryModelRegistryOptions = {}): ModelRegistry {
    const registry = new ModelRegistry(options, { extra: models });
    registry.#discoverAtStart(options.localServers);
    return registry;
  }

  /** The current problems of `models.json`, `models.yml` and `catalogue.json`. */
  get problems(): FileProblem[] {
    const files = this.#files;
    const background = this.#backgroundProblem;
    return [
      ...(this.#renewed?.problems ?? []),
      ...(files?.listProblems(this.getRoles()) ?? []),
      ...(files ? this.#configured.problems((path, message) => this.#providers.describe(files, path, message)) : []),
      ...(background === undefined ? [] : [{ file: files?.path ?? "models.json", message: background }]),
    ];
  }

  getAll(): Model[] {
    return this.#configured.listAll();
  }

  /** The models whose provider can be used. */
  getAvailable(hasKey: HasKey = this.#options.hasKey): Model[] {
    return this.#configured
      .providers()
      .filter((provider) => this.#isUsable(provider, hasKey))
      .flatMap((provider) => this.#configured.list(provider));
  }

  /** By its exact provider and id. A local server and a provider of the catalogue have every id. */
  find(provider: string, id: string): Model | undefined {
    return this.#configured.find(toProviderId(provider), id);
  }

  /**
   * Finds the model that a user typed: see `resolveModel`; `@NAME` is the model of a role. With `provider` it is one of
   * that provider; an empty text is then the provider's default model.
   */
  resolve(spec: string, provider?: string): ModelResolution {
    checkArguments({ spec, provider });
    return this.#names.resolve(spec, provider);
  }

  /** The usable models that match a list of patterns. */
  scope(patterns: readonly string[]): ModelScope {
    return this.#names.scope(patterns, this.getAvailable());
  }

  /** The models of roles as they are written, by name. A role that is not in it is the default model. */
  getRoles(): RoleModels {
    return mergeRoles(this.modelsYml.roles, this.#options.getSettings());
  }

  /** The content of `models.yml`, with its keys as written. Empty without such a file. */
  get modelsYml(): ModelsYml {
    return this.#files?.yml ?? emptyModelsYml;
  }

  /** The keys of a provider in the settings, else in `models.yml`, as written. Empty without such a list. */
  listKeys(provider: string): readonly string[] {
    return listKeys(provider, { settings: this.#options.getSettings().apiKeys ?? {}, yml: this.modelsYml.apiKeys });
  }

  /** The model of a new session. Without a choice it is the model of the role `default`, if there is one. */
  defaultModel(choice: DefaultChoice = {}): DefaultModel {
    return this.#names.chooseDefault(choice);
  }

  /** Whether there is a provider of this name, or a key for one. */
  isKnown(name: string): boolean {
    const provider = toProviderId(name);
    return this.#configured.providers().includes(provider) || this.#isUsable(provider, this.#options.hasKey);
  }

  /** A provider's key in `models.json` or `models.yml`, as written: a literal, `$NAME`, `${NAME}` or `!command`. */
  writtenKey(provider: string): string | undefined {
    return this.#providers.get(provider)?.apiKey;
  }

  /** All keys in `models.json` and `models.yml`, as written: also those in headers. */
  writtenValues(): readonly string[] {
    return (this.#writtenValues ??= [
      ...this.#providers.listWrittenValues(),
      ...[...this.modelsYml.apiKeys.values()].flat(),
    ]);
  }

  /** Returns the key with its host, as the option `modelsKey` of `AuthStorage` needs it. */
  modelsKey(provider: string): ModelsKey | undefined {
    return this.#providers.getModelsKey(provider);
  }

  /** The base URL of a provider in `models.json`. Undefined if the file has none. */
  baseUrl(provider: string): string | undefined {
    return this.#providers.get(provider)?.baseUrl;
  }

  /** The base URL of a provider in the files of the user: not that of an extension. Undefined if they have none. */
  writtenBaseUrl(provider: string): string | undefined {
    return this.#providers.getWrittenBaseUrl(provider);
  }

  /** Where a provider's models are, as the option `getHosts` of `AuthStorage` needs it. */
  getHosts(provider: string): string[] {
    return [...new Set(this.#configured.list(toProviderId(provider)).map(({ baseUrl }) => baseUrl))];
  }

  /** A provider's display name in `models.json`. Undefined if the file has none. */
  displayName(provider: string): string | undefined {
    return this.#providers.get(provider)?.name;
  }

  /**
   * Headers of a request besides those of the model: those whose values are not literal, and `Authorization` if the file
   * asks for it with `authHeader`.
   */
  async requestHeaders(model: Model, apiKey?: string): Promise<RequestHeaders> {
    const config = this.#providers.get(model.provider);
    if (!config) return { kind: "ready", headers: {} };
    const headers: Record<string, string> = {};
    for (const [name, written] of getUnresolvedHeaders(config, model.id)) {
      const value = await this.#options.resolveValue(written);
      if (value === undefined) {
        const message = `The header ${JSON.stringify(name)} of ${model.provider} in models.json has no value: the variable is not set, or the command failed.`;
        return { kind: "unresolved", message };
      }
      headers[name] = value;
    }
    if (config.authHeader && apiKey !== undefined) headers["authorization"] = `Bearer ${apiKey}`;
    return { kind: "ready", headers };
  }

  /** Calls `listener` after models changed. Returns a function that ends that. One that throws is reported in `problems`. */
  subscribe(listener: () => void): () => void {
    checkArguments({ listener });
    return this.#listeners.add(listener);
  }

  /**
   * Adds a provider as `models.json` would, until `unregisterProvider`. Its models take the place of those that it has
   * otherwise; without models, what it has otherwise is changed. Throws `invalid_input` for a wrong description.
   */
  registerProvider(name: string, description: unknown, options?: ParseProviderOptions): void {
    this.#providers.register(name, description, options);
    this.#reconfigure();
    this.#listeners.emit();
  }

  unregisterProvider(name: string): void {
    if (!this.#providers.unregister(name)) return;
    this.#reconfigure();
    this.#listeners.emit();
  }

  /**
   * Lists these models instead of those that the same owner set before. They choose another model for each request. They are
   * always available under a provider that has no other models.
   */
  setVirtualModels(owner: object, models: readonly Model[]): void {
    if (!this.#virtual.set(owner, models)) return;
    this.#reconfigure();
    this.#listeners.emit();
  }

  isVirtual(model: Pick<Model, "provider" | "id">): boolean {
    return this.#virtual.has(model);
  }

  /** Whether a provider lists a model with this id that is not virtual. */
  hasPhysicalModel(provider: string, id: string): boolean {
    const listed = this.#configured.list(toProviderId(provider)).some((model) => model.id === id);
    return listed && !this.isVirtual({ provider, id });
  }

  /** Whether requests with a model can be sent: it is not virtual, and its provider can be used. */
  isUsable(model: Pick<Model, "provider" | "id">): boolean {
    return !this.isVirtual(model) && this.#isUsable(toProviderId(model.provider), this.#options.hasKey);
  }

  /** Reads `models.json`, `models.yml` and `catalogue.json` again, now. */
  async refresh(): Promise<void> {
    const isRenewed = this.#renewed?.refresh() ?? false;
    if (!(await this.#files?.load()) && !isRenewed) return;
    this.#reconfigure();
    this.#listeners.emit();
  }

  /**
   * Asks local servers for their models. A server that was asked in the last minute is not asked again, unless `force`.
   * Does not reject for a server that is not running.
   */
  async discover(options: { servers?: readonly LocalProvider[]; force?: boolean } = {}): Promise<void> {
    const addresses = await Promise.all((options.servers ?? localProviders).map((server) => this.#getAddress(server)));
    if (await this.#local.ask(addresses, options.force)) this.#listeners.emit();
  }

  /** Why a local server did not list its models when it was last asked. */
  localFailure(provider: LocalProvider): Failure | undefined {
    return this.#local.failure(provider);
  }

  /** Stops watching the file and asking servers. The models stay available. */
  close(): void {
    this.#files?.close();
    this.#local.close();
    this.#listeners.clear();
  }

  #isUsable(provider: string, hasKey: HasKey): boolean {
    return (
      isLocalProvider(provider) ||
      hasKey(provider, this.writtenKey(provider)) ||
      this.listKeys(provider).length > 0 ||
      this.#isOnlyVirtual(provider)
    );
  }

  #isOnlyVirtual(provider: string): boolean {
    if (this.#virtual.isEmpty) return false;
    const listed = this.#configured.list(provider);
    return listed.length > 0 && listed.every((model) => this.isVirtual(model));
  }

  async #getAddress(provider: LocalProvider): Promise<LocalServerAddress> {
    const { baseUrl, apiKey: written } = this.#providers.get(provider) ?? {};
    const apiKey = written === undefined || isLiteral(written) ? written : await this.#options.resolveValue(written);
    return { provider, ...(baseUrl !== undefined && { baseUrl }), ...(apiKey !== undefined && { apiKey }) };
  }

  #discoverAtStart(servers: readonly LocalProvider[] = []): void {
    if (servers.length > 0) this.#inBackground(() => this.discover({ servers }));
  }

  /** Failures become a problem, since no caller waits for the work. */
  #inBackground(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      this.#backgroundProblem = `The models could not be updated: ${getErrorMessage(error)}`;
    });
  }

  #reconfigure(): void {
    this.#configured = new ConfiguredModels(this.#base, this.#providers.all);
    this.#writtenValues = undefined;
  }
}

/** Where models come from, besides the catalogue. */
interface ModelSources {
  files?: ModelFiles;
  renewed?: StoredCatalogue;
  extra?: readonly Model[];
}

const hasAnyKey: HasKey = (provider, written) => written !== undefined || getEnvApiKey(provider) !== undefined;

const literalOnly: ResolveValue = (written) => Promise.resolve(isLiteral(written) ? written : undefined);
