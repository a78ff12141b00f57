/** API keys and OAuth logins: where they are stored, which one is used, and where it may be sent. */
import { join, resolve } from "node:path";
import { type Clock, findEnvKeys, systemClock, systemIds } from "@tau/ai";
import { getErrorMessage, isRecord, Listeners, toProviderId, withoutUndefined } from "@tau/ai/internal";
import { nodeFileSystem } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import { defaultAgentDir } from "../files/agent-dir.ts";
import { createCheck, fn } from "../fields/arguments.ts";
import { jsonObject, text } from "../fields/kinds.ts";
import { formatPath } from "../fields/problem.ts";
import { formatFileProblem } from "../files/file-problem.ts";
import type { ApiKeyOutcome, AuthStorageOptions, CredentialInfo, Env, GetApiKeyOptions } from "./auth-options.ts";
import type { AuthEntries } from "./auth-file.ts";
import { type AuthStore, createMemoryAuthStore } from "./auth-store.ts";
import { type Credential, formatCredentialProblem, parseCredential } from "./credential.ts";
import type { CustomLogin } from "./custom-login.ts";
import { type AuthNotice, type Failed, failed } from "./failure.ts";
import { FileAuthStore } from "./file-auth-store.ts";
import { chooseKey, type KeyCandidate } from "./key-choice.ts";
import type { KeyList, KeySource } from "./key-source.ts";
import { formatKeyHint, formatLoginCommand } from "./key-hint.ts";
import { type KeyCommands, keyCommands } from "./key-command.ts";
import { parseHosts, providerHosts } from "./key-host.ts";
import { checkKey, type KeyValue, literalKey, resolveKey } from "./key-value.ts";
import type { LoginOptions, LoginOutcome } from "./login.ts";
import type { LoginInteraction } from "./login-interaction.ts";
import type { CredentialPlace, MoveOptions } from "./move-credentials.ts";
import { checkOAuthProvider, type OAuthProvider } from "./oauth-provider.ts";
import { oauthProviders } from "./oauth-providers.ts";
import { parseServed, type ServedModels } from "./served-models.ts";
import {
  findStoredName,
  isInChain,
  listSecrets,
  type SecretStore,
  readCredential,
  type Stored,
  withCredential,
  withoutCredential,
} from "./stored-credential.ts";
import { TokenKeeper } from "./token-keeper.ts";

/** A credential was stored, set for this process or removed. */
export interface AuthChange {
  provider: string;
  /** Whether the provider has one of them now. */
  hasCredential: boolean;
  /** See `CredentialInfo`. */
  serves?: ServedModels;
}

const checkArguments = createCheck({ path: text, credentials: jsonObject, options: jsonObject, listener: fn });

export class AuthStorage {
  readonly #store: AuthStore;
  readonly #secretStore: SecretStore;
  readonly #options: AuthStorageOptions & { env: Env; clock: Clock; notify: (notice: AuthNotice) => void };
  /** Without them, the store is no file either. */
  readonly #commands: KeyCommands | undefined;
  readonly #tokens: TokenKeeper;
  readonly #explicit = new Map<string, { key: string; host?: string }>();
  #used: readonly string[] = [];
  #seen: readonly string[] = [];
  readonly #providers = new Map<string, OAuthProvider>();
  /** The last one of a provider applies: each session adds those of its extensions. */
  #customLogins: readonly CustomLogin[] = [];
  readonly #listeners = new Listeners<AuthChange>((error) => {
    process.emitWarning(`A listener for credentials failed: ${getErrorMessage(error)}`, "TauWarning");
  });

  /** Without `commands`, none is run. */
  private constructor(store: AuthStore, options: AuthStorageOptions, commands?: KeyCommands) {
    const { env = (name) => process.env[name], clock = systemClock, keyChain } = options;
    const { onNotice: notify = () => {} } = options;
    this.#store = store;
    this.#options = { ...options, env, clock, notify };
    this.#commands = commands;
    this.#secretStore = {
      service: `tau ${store.name}`,
      get chain() {
        return typeof keyChain === "function" ? keyChain() : keyChain;
      },
    };
    const getLogin = (id: string) => this.#findLogin(id);
    this.#tokens = new TokenKeeper({ store, secretStore: this.#secretStore, clock, env, getLogin, notify });
    for (const provider of [...oauthProviders, ...(options.oauthProviders ?? [])]) this.registerOAuthProvider(provider);
  }

  /**
   * Credentials in `auth.json` of a directory, or in a file whose name ends with `.json`. Nothing is read before the first
   * call. A directory is made private too; the directory of a file is not.
   */
  static create(path: string = defaultAgentDir(), options: AuthStorageOptions = {}): AuthStorage {
    checkArguments({ path, options });
    const ownsDirectory = !path.endsWith(".json");
    const file = resolve(ownsDirectory ? join(path, "auth.json") : path);
    const { fileSystem = nodeFileSystem, clock = systemClock, ids = systemIds, commands = keyCommands } = options;
    const onNotice = notifyOnce(options.onNotice);
    const store = new FileAuthStore({ path: file, ownsDirectory, fileSystem, clock, ids, notify: onNotice });
    return new AuthStorage(store, { ...options, onNotice }, commands);
  }

  /** Credentials of this process alone. Commands are not run: they are allowed only in the user's own file. */
  static inMemory(credentials: Record<string, Credential> = {}, options: AuthStorageOptions = {}): AuthStorage {
    checkArguments({ credentials, options });
    const entries = new Map<string, Credential>();
    for (const [provider, value] of Object.entries(credentials))
      entries.set(provider, checkCredential(provider, value));
    const store = createMemoryAuthStore(entries);
    return new AuthStorage(store, { ...options, onNotice: notifyOnce(options.onNotice) });
  }

  /** The stored credential of a provider, with its secrets as written. Undefined if there is none that can be used. */
  async get(provider: string): Promise<Credential | undefined> {
    const stored = await this.#stored(provider);
    return stored.kind === "credential" ? stored.credential : undefined;
  }

  /** Replaces the stored credential of a provider. Use `literalKey` for a key with `$` or `!` in it. */
  async set(name: string, credential: Credential): Promise<void> {
    const checked = checkCredential(name, credential);
    const provider = toProviderId(name);
    await this.#store.change(async (entries) => {
      const change = { provider, credential: checked, secretStore: this.#secretStore };
      const changed = await withCredential(entries, change);
      const formerName = findStoredName(entries, provider);
      const others =
        formerName === provider ? changed : await withoutCredential(changed, formerName, this.#secretStore);
      return { result: undefined, entries: others };
    });
    this.#emitStored(provider, checked);
  }

  /**
   * Calls `work` with the stored credential, and stores what it resolves with; `remove` removes the credential, and undefined
   * leaves it. No other program changes credentials meanwhile, so that tokens which are valid once are renewed by one alone.
   */
  async change(
    name: string,
    work: (credential: Credential | undefined) => Promise<Credential | "remove" | undefined>,
  ): Promise<void> {
    const provider = toProviderId(name);
    const secretStore = this.#secretStore;
    const changed = await this.#store.change<Credential | "removed" | undefined>(async (entries) => {
      const stored = await this.#stored(provider, entries);
      const next = await work(stored.kind === "credential" ? stored.credential : undefined);
      if (next === undefined) return { result: undefined };
      if (next === "remove")
        return { result: "removed", entries: await withoutCredential(entries, provider, secretStore) };
      const credential = checkCredential(name, next);
      return { result: credential, entries: await withCredential(entries, { provider, credential, secretStore }) };
    });
    if (changed === "removed") this.#listeners.emit({ provider, hasCredential: false });
    else if (changed !== undefined) this.#emitStored(provider, changed);
  }

  /** Resolves to whether there was a credential. */
  async remove(name: string): Promise<boolean> {
    const provider = toProviderId(name);
    const isRemoved = await this.#store.change(async (entries) => {
      const storedName = findStoredName(entries, provider);
      if (!entries.has(storedName)) return { result: false };
      return { result: true, entries: await withoutCredential(entries, storedName, this.#secretStore) };
    });
    if (isRemoved) this.#listeners.emit({ provider, hasCredential: this.#explicit.has(provider) });
    return isRemoved;
  }

  /** Calls `listener` after a credential was stored, set or removed here, not by other programs. Returns how to stop. */
  subscribe(listener: (change: AuthChange) => void): () => void {
    checkArguments({ listener });
    return this.#listeners.add(listener);
  }

  /** The stored credentials and those of this process, by provider. Runs no commands. */
  async list(): Promise<CredentialInfo[]> {
    const infos = new Map<string, CredentialInfo>();
    for (const [name, entry] of await this.#read()) {
      const provider = toProviderId(name);
      const type = isRecord(entry) ? entry["type"] : undefined;
      const place = isInChain(entry) ? "keychain" : "file";
      if (type !== "api_key" && type !== "oauth") continue;
      infos.set(provider, { provider, type, source: "stored", place, ...this.#getServed(provider, entry) });
    }
    for (const provider of this.#explicit.keys()) {
      infos.set(provider, { provider, type: "api_key", source: "explicit" });
    }
    return [...infos.values()].sort((a, b) => (a.provider < b.provider ? -1 : 1));
  }

  /** Moves all stored credentials. Resolves to their providers; rejects if one cannot be moved, and then none is. */
  async move(to: CredentialPlace, options: MoveOptions): Promise<string[]> {
    const { service } = this.#secretStore;
    const { notify } = this.#options;
    const { moveCredentials } = await import("./move-credentials.ts");
    return await moveCredentials(to, { ...options, store: this.#store, service, notify });
  }

  /** Whether there is any key for a provider. Runs no commands and makes no requests. */
  async has(provider: string): Promise<boolean> {
    return (await this.#candidates(provider)).some((candidate) => !("failure" in candidate));
  }

  /** Sets a literal key for this process alone. It has precedence over all others. */
  setRuntimeApiKey(name: string, key: string, host?: string): void {
    const provider = toProviderId(name);
    this.#explicit.set(provider, { key, ...(host !== undefined && { host }) });
    this.#addUsed(key);
    this.#listeners.emit({ provider, hasCredential: true });
  }

  /** The key no longer applies at once. Resolves when listeners know whether there is a stored credential instead. */
  async removeRuntimeApiKey(name: string): Promise<void> {
    const provider = toProviderId(name);
    if (!this.#explicit.delete(provider)) return;
    const entries = await this.#read();
    const entry = entries.get(findStoredName(entries, provider));
    if (entry !== undefined && !this.#explicit.has(provider)) return this.#emitStored(provider, entry);
    this.#listeners.emit({ provider, hasCredential: this.#explicit.has(provider) });
  }

  /**
   * The key for a request: the one set explicitly, else one of `options.list`, else stored, else of the models file, else of
   * the environment. A key for
   * another host is skipped; a key that cannot be resolved is a failure and not skipped, so that no other account is billed
   * by surprise. Call it before each request: it renews an access token that expires.
   */
  async getApiKey(name: string, options: GetApiKeyOptions = {}): Promise<ApiKeyOutcome> {
    const provider = toProviderId(name);
    const choice = chooseKey(provider, await this.#candidates(provider, options.list), {
      host: options.host,
      hasCustomLogin: this.#hasCustomLogin(provider),
    });
    if (choice.kind === "none") return choice;
    const { source, origin } = choice.candidate;
    const value = await this.#getValue(provider, choice.candidate, options);
    if (value.kind !== "value") return { ...value, source };
    this.#addUsed(value.value);
    return { kind: "found", key: value.value, source, origin };
  }

  /** For the message if the provider rejects the key, or if there is none: where it is from, or how to give one. */
  getKeyHint(provider: string, key?: { source: KeySource; origin: string }): string {
    const hasCustomLogin = this.#hasCustomLogin(provider);
    return formatKeyHint(provider, { ...(key && { key }), canLogIn: this.#commands !== undefined, hasCustomLogin });
  }

  /** All keys that were set for this process or returned by `getApiKey` so far. The same array until there is another one. */
  usedKeys(): readonly string[] {
    return this.#used;
  }

  /**
   * All keys and tokens that were in the store when it was last read, and before: also those that were never used here. The
   * same array until there is another one. Keys in the key chain are not among them.
   */
  storedKeys(): readonly string[] {
    return this.#seen;
  }

  registerOAuthProvider(provider: OAuthProvider): void {
    checkOAuthProvider(provider);
    this.#providers.set(provider.id, provider);
  }

  getOAuthProviders(): OAuthProvider[] {
    return [...this.#providers.values()];
  }

  /** Adds a login, instead of the one that the provider has otherwise. Returns a function that removes it. */
  registerLogin(login: CustomLogin): () => void {
    this.#customLogins = [...this.#customLogins, login];
    return () => {
      this.#customLogins = this.#customLogins.filter((other) => other !== login);
    };
  }

  /** The providers with a login of their own, and what it is called. */
  getLogins(): { id: string; name: string }[] {
    const all = [...this.#providers.values(), ...this.#customLogins].map(({ id, name }) => ({ id, name }));
    return [...new Map(all.map((login) => [login.id, login])).values()];
  }

  /** Logs in and stores the tokens. The stored credential changes only if the result is `done`. */
  async login(id: string, interaction: LoginInteraction, options: LoginOptions = {}): Promise<LoginOutcome> {
    const provider = this.#findLogin(id);
    if (!provider) {
      const known = this.getLogins()
        .map((login) => login.id)
        .join(", ");
      throw new HarnessError(
        "invalid_input",
        `There is no login for ${JSON.stringify(id)}. The providers with a login are: ${known}.`,
      );
    }
    try {
      // Fails before the login if the tokens could not be stored.
      await this.#store.change(async () => ({ result: undefined }));
      const outcome = await this.#logIn(provider, interaction, options);
      if (outcome.kind === "failed") return outcome;
      await this.set(id, outcome.credential);
      return { kind: "done" };
    } catch (error) {
      if (error instanceof HarnessError && error.code === "write_failed") return failed("storage", error.message);
      throw error;
    }
  }

  #emitStored(provider: string, entry: unknown): void {
    const served = this.#explicit.has(provider) ? {} : this.#getServed(provider, entry);
    this.#listeners.emit({ provider, hasCredential: true, ...served });
  }

  #getServed(provider: string, entry: unknown): { serves?: ServedModels } {
    if (!isRecord(entry) || entry["type"] !== "oauth" || this.#hasCustomLogin(provider)) return {};
    const modelsOf = this.#providers.get(provider)?.modelsOf;
    const serves = { ...parseServed(entry["serves"]), ...(modelsOf !== undefined && { modelsOf }) };
    return Object.keys(serves).length > 0 ? { serves } : {};
  }

  #hasCustomLogin(provider: string): boolean {
    return this.#customLogins.some(({ id }) => id === provider);
  }

  #findLogin(id: string): OAuthProvider | CustomLogin | undefined {
    return this.#customLogins.findLast((login) => login.id === id) ?? this.#providers.get(id);
  }

  async #logIn(
    provider: OAuthProvider | CustomLogin,
    interaction: LoginInteraction,
    options: LoginOptions,
  ): Promise<{ kind: "credential"; credential: Credential } | Failed> {
    if ("login" in provider) {
      const { logInCustom } = await import("./custom-login.ts");
      return await logInCustom(provider, interaction, options.signal);
    }
    const { login } = await import("./login.ts");
    const { clock, env } = this.#options;
    const outcome = await login(provider, interaction, { ...options, clock, env });
    if (outcome.kind === "failed") return outcome;
    const isKey = outcome.kind === "key";
    const credential: Credential = isKey
      ? { type: "api_key", key: literalKey(outcome.key) }
      : { type: "oauth", ...outcome.tokens };
    return { kind: "credential", credential };
  }

  async #read(): Promise<AuthEntries> {
    const entries = await this.#store.read();
    const keys = [...entries.values()].flatMap(listSecrets).filter((key) => !this.#seen.includes(key));
    if (keys.length > 0) this.#seen = [...this.#seen, ...keys];
    return entries;
  }

  #addUsed(key: string): void {
    if (!this.#used.includes(key)) this.#used = [...this.#used, key];
  }

  async #stored(provider: string, entries?: AuthEntries): Promise<Stored> {
    const all = entries ?? (await this.#read());
    const stored = await readCredential(all, findStoredName(all, toProviderId(provider)), this.#secretStore);
    if (stored.kind !== "bad") return stored;
    const { path } = stored.problem;
    const line = withoutUndefined({ line: await this.#store.getLine(path) });
    const file = this.#store.name;
    const command = formatLoginCommand(provider, this.#hasCustomLogin(provider));
    const advice = `${formatCredentialProblem(stored.problem)} Correct it, or log in again: ${command}`;
    const message = formatFileProblem({ file, message: advice, ...line });
    this.#options.notify({ kind: "bad_entry", message, path: file, key: formatPath(path), ...line });
    return failed("damaged", message);
  }

  /** In order of precedence. */
  async #candidates(name: string, list?: KeyList): Promise<KeyCandidate[]> {
    const provider = toProviderId(name);
    const { env, modelsKey, getHosts } = this.#options;
    const own = providerHosts(provider, env);
    const known = own.length > 0 ? own : parseHosts(getHosts?.(provider) ?? []);
    const boundTo = (host: string | undefined, usual = known) => (host === undefined ? usual : parseHosts([host]));
    const candidates: KeyCandidate[] = [];
    const explicit = this.#explicit.get(provider);
    const fromProcess = { source: "explicit", origin: "the one set for this process (--api-key)" } as const;
    if (explicit) candidates.push({ ...fromProcess, hosts: boundTo(explicit.host), literal: explicit.key });
    const fromSettings = { source: "settings", origin: `from the setting apiKeys.${provider}` } as const;
    if (list && list.written.length > 0) candidates.push({ ...fromSettings, hosts: boundTo(list.host), list });
    const entries = await this.#read();
    const stored = await this.#stored(provider, entries);
    const place = isInChain(entries.get(findStoredName(entries, provider))) ? "the key chain" : this.#store.name;
    const fromStore = { source: "stored", origin: `from ${place}` } as const;
    if (stored.kind === "failed") candidates.push({ ...fromStore, hosts: undefined, failure: stored.failure });
    if (stored.kind === "credential") {
      const { credential } = stored;
      const usual = credential.type === "oauth" ? this.#providers.get(provider)?.hosts : undefined;
      const hosts = boundTo(credential.host, usual ? parseHosts(usual) : known);
      // An entry may have only variables, if the provider needs no key or its key is in another place.
      if (credential.type === "oauth" || credential.key) candidates.push({ ...fromStore, hosts, credential });
    }
    const models = await modelsKey?.(provider);
    const fromModels = { source: "models", origin: `from ${models?.place ?? "models.json"}` } as const;
    if (models) candidates.push({ ...fromModels, hosts: boundTo(models.host), written: models });
    const entryEnv = stored.kind === "credential" ? getEnv(stored.credential, env) : env;
    const variable = findEnvKeys(provider, entryEnv)?.[0];
    const fromEnv = { source: "environment", origin: `from the environment variable ${variable}` } as const;
    if (variable !== undefined) candidates.push({ ...fromEnv, hosts: known, literal: entryEnv(variable) ?? "" });
    return candidates;
  }

  async #getValue(
    provider: string,
    candidate: KeyCandidate,
    options: Pick<GetApiKeyOptions, "signal" | "renewal">,
  ): Promise<KeyValue> {
    const { env } = this.#options;
    const subject = `the key of ${provider}`;
    const run = this.#commands && { run: this.#commands };
    if ("failure" in candidate) return { kind: "failed", failure: candidate.failure };
    if ("literal" in candidate) return checkKey(candidate.literal, subject);
    if ("list" in candidate) return await this.#getListed(provider, candidate.list);
    if ("written" in candidate) {
      const { key, isOwn = false, place = "the models file" } = candidate.written;
      return await resolveKey(key, { subject: `${subject} in ${place}`, env, ...(isOwn && run) });
    }
    const { credential } = candidate;
    if (credential.type === "oauth") return await this.#tokens.fresh(provider, credential, options);
    return await resolveKey(credential.key ?? "", {
      subject: `${subject} in ${this.#store.name}`,
      env: getEnv(credential, env),
      ...run,
    });
  }

  /** Keys that cannot be resolved are skipped if there are others, since all are meant for the same requests. */
  async #getListed(provider: string, { written, pick }: KeyList): Promise<KeyValue> {
    const { env } = this.#options;
    const run = this.#commands && { run: this.#commands };
    const subject = `the key of ${provider} in the setting apiKeys`;
    const values = await Promise.all(written.map((key) => resolveKey(key, { subject, env, ...run })));
    const keys = values.flatMap((value) => (value.kind === "value" ? value.value : []));
    // All of them, because the others are used without being looked up again.
    for (const key of keys) this.#addUsed(key);
    return keys.length > 0 ? { kind: "value", value: pick([...new Set(keys)]) } : values[0]!;
  }
}

/** The variables of the entry have precedence over those of the process. */
const getEnv =
  ({ env: own }: Credential, env: Env): Env =>
  (name) => {
    const value = isRecord(own) && Object.hasOwn(own, name) ? own[name] : env(name);
    return typeof value === "string" ? value : undefined;
  };

/** Files are read for each call, but the user needs each notice once. */
function notifyOnce(notify: ((notice: AuthNotice) => void) | undefined): (notice: AuthNotice) => void {
  const last = new Map<string, string>();
  return (notice) => {
    const about = `${notice.kind} ${notice.path} ${notice.key}`;
    if (last.get(about) === notice.message) return;
    last.set(about, notice.message);
    notify?.(notice);
  };
}

function checkCredential(provider: string, value: Credential): Credential {
  if (typeof provider !== "string" || provider.trim() === "")
    throw new HarnessError("invalid_input", "A credential needs the name of a provider.");
  const parsed = parseCredential(provider, value);
  if (parsed.kind === "credential") return parsed.credential;
  throw new HarnessError(
    "invalid_input",
    `This credential cannot be stored: ${formatCredentialProblem(parsed.problem)}`,
  );
}
