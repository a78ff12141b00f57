/** The forms in which extensions describe providers. Names are pi's. */
import type { AssistantMessageEvent, Context, Model, SimpleStreamOptions } from "@tau/ai";
import type { Credential, LoginQuestion } from "@tau/config/auth";

type Fields = Record<string, unknown>;

/** A provider as data, or with functions of its own (only in process). See pi's `ProviderConfig`. */
export interface ProviderConfig {
  name?: string;
  baseUrl?: string;
  apiKey?: string;
  api?: string;
  headers?: Record<string, string>;
  authHeader?: boolean;
  models?: readonly Fields[];
  // oxlint-disable-next-line typescript/no-explicit-any -- the stream function of the provider's own API
  streamSimple?: (...args: any[]) => any;
  oauth?: {
    name: string;
    login(callbacks: OAuthLoginCallbacks): Promise<Fields>;
    refreshToken(credentials: Fields, signal: AbortSignal): Promise<Fields>;
    getApiKey(credentials: Fields): string | Promise<string>;
    /** Called for all models while the user is logged in. Only the models of the provider change. */
    modifyModels?: (models: Model[], credentials: Fields) => Model[];
  };
  /** Called when the provider is registered and when its key or login changes. The result replaces its models. */
  refreshModels?: (context: RefreshModelsContext) => Promise<readonly Fields[]>;
  /** Looks for a key where the user has set none. Undefined: there is none. Called when the provider is registered. */
  findKey?: () => Promise<string | undefined>;
}

/** Given to a provider that looks for its models. */
export interface RefreshModelsContext {
  /** The key or login that a request would have. Only what is stored, as it is, if `allowNetwork` is false. */
  credential?: Credential;
  baseUrl?: string;
  allowNetwork: boolean;
  signal: AbortSignal;
  /** pi's way to install models: calls `update`. Nothing is stored. Resolves to whether the provider is still registered. */
  publish(publication: { update?: () => void }): Promise<boolean>;
}

/** The callbacks of pi's logins. */
export interface OAuthLoginCallbacks {
  onAuth(info: { url: string; instructions?: string }): void;
  onDeviceCode(info: DeviceCodeInfo): void;
  /** Rejects if the user cancels. */
  onPrompt(prompt: { message: string; placeholder?: string; allowEmpty?: boolean }): Promise<string>;
  onProgress(message: string): void;
  onManualCodeInput(): Promise<string>;
  onSelect(prompt: Required<Pick<LoginQuestion, "message" | "options">>): Promise<string | undefined>;
  signal: AbortSignal;
}

interface DeviceCodeInfo {
  userCode: string;
  verificationUri: string;
  intervalSeconds?: number;
  expiresInSeconds?: number;
}

/** The values that requests need besides the model. */
export interface ModelAuth {
  apiKey?: string;
  headers?: Readonly<Record<string, string | null>>;
  baseUrl?: string;
}

export interface AuthInteraction {
  signal: AbortSignal;
  prompt(prompt: AuthPrompt): Promise<string>;
  notify(event: AuthEvent): void;
}

type AuthPrompt = { type: string; message: string; placeholder?: string; options?: readonly Option[] };
type Option = { id: string; label: string };
type AuthEvent =
  | { type: "auth_url"; url: string; instructions?: string }
  | ({ type: "device_code" } & Parameters<OAuthLoginCallbacks["onDeviceCode"]>[0])
  | { type: "info" | "progress"; message: string };

/** A complete provider: functions for models, keys, logins and requests. */
export interface NativeProvider {
  readonly id: string;
  readonly name?: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly auth?: {
    apiKey?: {
      resolve(input: Fields): Promise<{ auth: ModelAuth; env?: Record<string, string> } | undefined>;
    };
    oauth?: {
      name: string;
      login(interaction: AuthInteraction): Promise<Fields>;
      refresh(credential: Fields, signal: AbortSignal): Promise<Fields>;
      toAuth(credential: Fields): Promise<ModelAuth>;
    };
  };
  getModels(): readonly Model[];
  /** Afterwards `getModels` has the models. */
  refreshModels?(context: RefreshModelsContext): Promise<void>;
  streamSimple(
    model: Model,
    context: Context,
    options?: SimpleStreamOptions,
  ): AsyncIterable<AssistantMessageEvent> | Promise<AsyncIterable<AssistantMessageEvent>>;
}
