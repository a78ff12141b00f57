/**
 * All models: those of the catalogue, including registered ones, those of `models.json` and `models.yml`, and those of local
 * servers. A registry registers nothing itself, so that several registries in one process are independent.
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
  type Model,
  systemClock,
} from "@tau/ai";
import {
  didYouMean,
  getErrorMessage,
  getRetiredModels,
  getUnlistedModel,
  isRegisteredModel,
  Listeners,
  toProviderId,
  withoutUndefined,
} from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import type { ModelsKey } from "../auth/key-source.ts";
import { check, createCheck, fn, param } from "../fields/arguments.ts";
import type { Path } from "../fields/field.ts";
import { jsonObject, text } from "../fields/kinds.ts";
import type { FileProblem } from "../files/file-problem.ts";
import { isSecretName } from "@tau/policy/internal";
import { StoredCatalogue } from "./catalogue/stored-catalogue.ts";
import { type BaseModels, ConfiguredModels } from "./configured.ts";
import {
  chooseDefault,
  type DefaultChoice,
  type DefaultModel,
  defaultModels,
  defaultProviderOrder,
} from "./defaults.ts";
import { listKeys } from "./key-ring.ts";
import { isLocalProvider, LocalModels, type LocalServerAddress, localProviders } from "./local-models.ts";
import { isLiteral, getUnresolvedHeaders } from "./overlay.ts";
import { getReference, type ModelResolution, type ResolvePreference, resolveModel, splitThinking } from "./resolve.ts";
import { resolveRoleModel, toRoleOfProvider } from "./resolve-role.ts";
import { mergeRoles, type ModelSettings, parseRoleReference, type RoleModels, type RoleReference } from "./roles.ts";
import { type ModelScope, type ScopeProblem, scopeModels } from "./scope.ts";
import { ModelFiles } from "./model-files.ts";
import { parseProvider, type ParseProviderOptions } from "./models-file.ts";
import { emptyModelsYml, type ModelsYml } from "./models-yml.ts";
import type { ProviderConfig } from "./schema.ts";

/** Whether a provider can be used. `written` is its key in `models.json`, as written. It is called often: keep it fast. */
export type HasKey = (provider: string, written: string | undefined) => boolean;

/** Resolves `$NAME`, `${NAME}` and `!command`. Undefined if there is no such value. */
export type ResolveValue = (written: string) => Promise<string | undefined>;

export interface ModelRegistryOptions {
  /** Default: a key is in the environment or in `models.json`. Local servers never need one. */
  hasKey?: HasKey;
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
  readonly #options: Required<Omit<ModelRegistryOptions, "localServers">>;
  readonly #files: ModelFiles | undefined;
  /** The models that the user added to the catalogue. */
  readonly #renewed: StoredCatalogue | undefined;
  readonly #local: LocalModels;
  readonly #base: BaseModels;
  #configured: ConfiguredModels;
  #writtenValues: readonly string[] | undefined;
  /** The providers of extensions, by name. They apply instead of those of the file. */
  readonly #registered = new Map<string, ProviderConfig>();
  /** The virtual models of extensions, by whoever set them. */
  readonly #virtual = new Map<object, readonly Model[]>();
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
    const listExtra = () => (this.#virtual.size === 0 ? extra : [...extra, ...this.#listVirtual()]);
    this.#base = createBaseModels({ local: this.#local, listExtra, renewed });
    this.#configured = new ConfiguredModels(this.#base, this.#configs);
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
      ...(files ? this.#configured.problems((path, message) => this.#describe(files, path, message)) : []),
      ...(background === undefined ? [] : [{ file: files?.path ?? "models.json", message: background }]),
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
    const reference = parseRoleReference(spec);
    if (reference) return provider === undefined ? this.#resolveRole(reference) : toRoleOfProvider(spec);
    if (provider !== undefined) return this.#resolveWithin(toProviderId(provider.trim()), spec.trim());
    const text = withCurrentProvider(spec.trim());
    const exact = this.#findReference(text) ?? this.#findReference(splitThinking(text)?.head ?? "");
    return resolveModel(text, exact ? [exact] : this.getAll(), this.#preference);
  }

  /** The usable models that match a list of patterns. */
  scope(patterns: readonly string[]): ModelScope {
    const unlisted: ResolvePreference["unlisted"] = (provider, id) =>
      isLocalProvider(provider) ? this.find(provider, id) : undefined;
    const named = patterns.map((pattern) => this.#replaceRole(pattern));
    const { models, problems } = scopeModels(
      named.flatMap(({ pattern }) => (pattern === undefined ? [] : [withCurrentProvider(pattern)])),
      this.getAvailable(),
      { ...this.#preference, unlisted },
    );
    return { models, problems: [...named.flatMap(({ problem }) => problem ?? []), ...problems] };
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
    const role = this.getRoles()["default"];
    const { defaultModel = choice.defaultProvider === undefined && role !== undefined ? "@default" : "" } = choice;
    const { defaultProvider } = choice;
    const isNamed = defaultModel !== "" || defaultProvider !== undefined;
    const named = isNamed ? this.resolve(defaultModel, defaultProvider) : undefined;
    return chooseDefault(() => this.getAll(), named, this.#preference);
  }

  /** Whether there is a provider of this name, or a key for one. */
  isKnown(name: string): boolean {
    const provider = toProviderId(name);
    return this.#configured.providers().includes(provider) || this.#isUsable(provider, this.#options.hasKey);
  }

  /** A provider's key in `models.json` or `models.yml`, as written: a literal, `$NAME`, `${NAME}` or `!command`. */
  writtenKey(provider: string): string | undefined {
    return this.#getConfig(provider)?.apiKey;
  }

  /** All keys in `models.json` and `models.yml`, as written: also those in headers. */
  writtenValues(): readonly string[] {
    return (this.#writtenValues ??= [
      ...[...this.#configs.values()].flatMap(listWrittenValues),
      ...[...this.modelsYml.apiKeys.values()].flat(),
    ]);
  }

  /** Returns the key with its host, as the option `modelsKey` of `AuthStorage` needs it. */
  modelsKey(provider: string): ModelsKey | undefined {
    const key = this.writtenKey(provider);
    const host = this.baseUrl(provider);
    if (key === undefined) return undefined;
    const id = toProviderId(provider);
    const isRegistered = this.#registered.get(id)?.apiKey !== undefined;
    const isOfYml = !isRegistered && (this.#files?.hasYmlKey(id) ?? false);
    return {
      key,
      isOwn: true,
      ...(host !== undefined && { host }),
      ...(isRegistered && { place: `the extension that registers ${provider}` }),
      ...(isOfYml && { place: "models.yml" }),
    };
  }

  /** The base URL of a provider in `models.json`. Undefined if the file has none. */
  baseUrl(provider: string): string | undefined {
    return this.#getConfig(provider)?.baseUrl;
  }

  /** Where a provider's models are, as the option `getHosts` of `AuthStorage` needs it. */
  getHosts(provider: string): string[] {
    return [...new Set(this.#configured.list(toProviderId(provider)).map(({ baseUrl }) => baseUrl))];
  }

  /** A provider's display name in `models.json`. Undefined if the file has none. */
  displayName(provider: string): string | undefined {
    return this.#getConfig(provider)?.name;
  }

  /**
   * Headers of a request besides those of the model: those whose values are not literal, and `Authorization` if the file
   * asks for it with `authHeader`.
   */
  async requestHeaders(model: Model, apiKey?: string): Promise<RequestHeaders> {
    const config = this.#getConfig(model.provider);
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
    this.#registered.set(toProviderId(name), parseProvider(toProviderId(name), description, options));
    this.#reconfigure();
    this.#listeners.emit();
  }

  unregisterProvider(name: string): void {
    if (!this.#registered.delete(toProviderId(name))) return;
    this.#reconfigure();
    this.#listeners.emit();
  }

  /**
   * Lists these models instead of those that the same owner set before. They choose another model for each request. They are
   * always available under a provider that has no other models.
   */
  setVirtualModels(owner: object, models: readonly Model[]): void {
    const before = this.#virtual.get(owner) ?? [];
    if (before.length === 0 && models.length === 0) return;
    if (models.length > 0) this.#virtual.set(owner, models);
    else this.#virtual.delete(owner);
    this.#reconfigure();
    this.#listeners.emit();
  }

  /** Whether a model is virtual. */
  isVirtual({ provider, id }: Pick<Model, "provider" | "id">): boolean {
    return this.#listVirtual().some((model) => model.provider === toProviderId(provider) && model.id === id);
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

  #listVirtual(): readonly Model[] {
    return [...this.#virtual.values()].flat();
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

  get #configs(): ReadonlyMap<string, ProviderConfig> {
    const written = this.#files?.providers ?? new Map();
    return this.#registered.size === 0 ? written : addRegistered(written, this.#registered);
  }

  #getConfig(provider: string): ProviderConfig | undefined {
    return this.#configs.get(toProviderId(provider));
  }

  get #preference(): ResolvePreference {
    return {
      hasKey: (provider) => this.#isUsable(provider, this.#options.hasKey),
      providerOrder: this.#options.providerOrder,
      unlisted: (provider, id) => this.find(provider, id),
      getRetired: (id) =>
        getRetiredModels().filter((model) => model.id === id && this.find(model.provider, id)?.isRetired),
      getDefault: (provider) => defaultModels.get(provider),
    };
  }

  /** Describes a problem. A provider of an extension is not in the file of the user. */
  #describe(files: ModelFiles, path: Path, message: string): FileProblem {
    const provider = String(path[1]);
    const config = this.#configs.get(provider);
    const isRegistered = config !== undefined && config === this.#registered.get(provider);
    return isRegistered ? { file: `the provider ${provider} of an extension`, message } : files.describe(path, message);
  }

  #resolveRole(reference: RoleReference): ModelResolution {
    return resolveRoleModel(reference, {
      roles: this.getRoles(),
      resolve: (name) => this.resolve(name),
      getDefault: () => {
        const { defaultModel, defaultProvider } = this.#options.getSettings();
        return this.defaultModel(withoutUndefined({ defaultModel, defaultProvider }));
      },
      hasKey: (provider) => this.#isUsable(provider, this.#options.hasKey),
    });
  }

  /** The model of a role as a pattern. Any other pattern is returned as it is. */
  #replaceRole(pattern: string): { pattern?: string; problem?: ScopeProblem } {
    const reference = parseRoleReference(pattern);
    if (!reference) return { pattern };
    const resolution = this.#resolveRole(reference);
    if (resolution.kind !== "resolved")
      return { problem: { pattern, kind: resolution.kind, message: resolution.message } };
    const { model, thinkingLevel } = resolution;
    return { pattern: `${getReference(model)}${thinkingLevel === undefined ? "" : `:${thinkingLevel}`}` };
  }

  #resolveWithin(name: string, text: string): ModelResolution {
    const known = [...new Set([...this.#configured.providers(), ...localProviders])];
    const provider = known.find((each) => each.toLowerCase() === name.toLowerCase());
    if (provider === undefined) {
      const hint = didYouMean(name, known) || ` The providers are: ${known.join(", ")}.`;
      const message = `There is no provider ${JSON.stringify(name)}.${hint}`;
      return { kind: "not_found", nearest: [], message };
    }
    const own = this.#configured.list(provider);
    if (text === "" && own.length === 0) {
      const message = `The models of ${provider} are not known. Name one, as in ${provider}/MODEL.`;
      return { kind: "not_found", nearest: [], message };
    }
    const isRepeated = text.toLowerCase().startsWith(`${provider.toLowerCase()}/`);
    const id = isRepeated ? text.slice(provider.length + 1) : text;
    return resolveModel(`${provider}/${id}`, own, this.#preference);
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
    if (this.#virtual.size === 0) return false;
    const listed = this.#configured.list(provider);
    return listed.length > 0 && listed.every((model) => this.isVirtual(model));
  }

  /** Most references are exact, and then only one provider's models are looked at. */
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
    this.#configured = new ConfiguredModels(this.#base, this.#configs);
    this.#writtenValues = undefined;
  }
}

/** Where models come from, besides the catalogue. */
interface ModelSources {
  files?: ModelFiles;
  renewed?: StoredCatalogue;
  extra?: readonly Model[];
}

/** `provider/id` with the current id of the provider. Any other text is returned as it is. */
function withCurrentProvider(text: string): string {
  const slash = text.indexOf("/");
  return slash > 0 ? `${toProviderId(text.slice(0, slash))}${text.slice(slash)}` : toProviderId(text);
}

function listWrittenValues({ apiKey, headers, models = [], modelOverrides }: ProviderConfig): string[] {
  const own = [...models, ...(modelOverrides?.values() ?? [])].map((model) => model.headers);
  const all = [headers, ...own].flatMap((each) => [...(each ?? [])]);
  const secret = all.filter(([name, written]) => !isLiteral(written) || isSecretName(name));
  return [...(apiKey === undefined ? [] : [apiKey]), ...secret.map(([, written]) => written)];
}

const hasAnyKey: HasKey = (provider, written) => written !== undefined || getEnvApiKey(provider) !== undefined;

const literalOnly: ResolveValue = (written) => Promise.resolve(isLiteral(written) ? written : undefined);

interface BaseSources {
  local: LocalModels;
  listExtra: () => readonly Model[];
  renewed: StoredCatalogue | undefined;
}

function createBaseModels({ local, listExtra, renewed }: BaseSources): BaseModels {
  const findRenewed = (provider: string, id: string) =>
    isRegisteredModel(provider, id) ? undefined : renewed?.get(provider).get(id);
  const listCatalogue = (provider: string) => {
    const additions = renewed?.get(provider);
    const listed = getModels(provider);
    if (!additions || additions.size === 0) return listed;
    const others = [...additions.keys()].filter((id) => !listed.some((model) => model.id === id));
    return [
      ...listed.map((model) => findRenewed(provider, model.id) ?? model),
      ...others.map((id) => additions.get(id)!),
    ];
  };
  const list = (provider: string) => {
    const own = listExtra().filter((model) => model.provider === provider);
    const served = local.list(provider);
    if (own.length === 0 && served.length === 0) return listCatalogue(provider);
    const all = [...served, ...listCatalogue(provider), ...own];
    return [...new Map(all.map((model) => [model.id, model])).values()];
  };
  return {
    providers: () => [
      ...new Set([...listExtra().map(({ provider }) => provider), ...getProviders(), ...local.providers()]),
    ],
    list,
    find: (provider, id) =>
      isLocalProvider(provider)
        ? list(provider).find((model) => model.id === id)
        : (listExtra().find((model) => model.provider === provider && model.id === id) ??
          findRenewed(provider, id) ??
          getModel(provider, id)),
    assumed: (provider, id) => (isLocalProvider(provider) ? getModel(provider, id) : undefined),
    unlisted: (provider, id) => (isLocalProvider(provider) ? getModel(provider, id) : getUnlistedModel(provider, id)),
  };
}

/** A registered provider without models changes what the file says of the provider; one with models takes its place. */
function addRegistered(
  written: ReadonlyMap<string, ProviderConfig>,
  registered: ReadonlyMap<string, ProviderConfig>,
): ReadonlyMap<string, ProviderConfig> {
  const all = new Map(written);
  for (const [name, config] of registered) {
    const before = written.get(name);
    all.set(name, before && !config.models ? { ...before, ...config, path: before.path } : config);
  }
  return all;
}
