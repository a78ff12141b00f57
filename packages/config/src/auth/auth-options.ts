/** The options and results of `AuthStorage`. */
import type { Clock, Ids } from "@tau/ai";
import type { FileSystem } from "@tau/tools/platform";
import type { Credential } from "./credential.ts";
import type { AuthFailure, AuthNotice } from "./failure.ts";
import type { KeyChain } from "./key-chain.ts";
import type { NoKey } from "./key-choice.ts";
import type { KeyCommands } from "./key-command.ts";
import type { KeyList, KeySource, ModelsKey } from "./key-source.ts";
import type { CredentialPlace } from "./move-credentials.ts";
import type { OAuthProvider } from "./oauth-provider.ts";
import type { ServedModels } from "./served-models.ts";

/** A variable of the environment. */
export type Env = (name: string) => string | undefined;

export interface AuthStorageOptions {
  /** Called with what is wrong with a file, and what was done about it. Not called twice in a row with the same. */
  onNotice?: (notice: AuthNotice) => void;
  /** The key that the models file has for a provider. */
  modelsKey?: (provider: string) => ModelsKey | undefined | Promise<ModelsKey | undefined>;
  /** The hosts of a provider that is not built in. Default: none. A built-in provider keeps its own. */
  getHosts?: (provider: string) => readonly string[];
  /** Stores secrets instead of the file. A function is asked each time, because the setting may change. */
  keyChain?: KeyChain | (() => KeyChain | undefined);
  /** More providers besides the built-in ones. One with the same id replaces a built-in one. */
  oauthProviders?: readonly OAuthProvider[];
  /** Default: shared by the process, so that each command runs once. */
  commands?: KeyCommands;
  env?: Env;
  fileSystem?: FileSystem;
  clock?: Clock;
  ids?: Ids;
}

export type ApiKeyOutcome =
  /** `origin` says for people where the key is from: a file, a variable, a flag. */
  | { kind: "found"; key: string; source: KeySource; origin: string }
  /** There is none for this provider, or none for this host. */
  | NoKey
  /** There is a key, but it cannot be resolved now. */
  | { kind: "failed"; source: KeySource; failure: AuthFailure };

export interface GetApiKeyOptions {
  /** Where the key will be sent: a host or a base URL. Without it any host is allowed: only for showing, never for sending. */
  host?: string;
  signal?: AbortSignal;
  /** How a login is renewed. Default: shortly before it expires. */
  renewal?: Renewal;
  /** The keys that the settings have for the provider. They come after the key that was set explicitly. */
  list?: KeyList | undefined;
}

export interface Renewal {
  /** The token is used while it is valid, and never renewed. Default false. */
  isOff?: boolean;
  /** The token is renewed if it is valid for less than this. Default 0. */
  minLifetimeMs?: number;
}

/** Has no secrets. */
export interface CredentialInfo {
  provider: string;
  type: Credential["type"];
  source: "explicit" | "stored";
  /** Where it is stored; absent for one that is not. */
  place?: CredentialPlace;
  /** Absent if it serves all models of the provider, as they are. */
  serves?: ServedModels;
}
