/** The models of a session as extensions see them, with requests that have the keys of the user. Names are pi's. */
import type { AssistantMessage, AssistantMessageEventStream, Context, Model, SimpleStreamOptions } from "@tau/ai";
import type { ThinkingLevel } from "@tau/agent";
import type { ProviderConfig } from "../providers/provider-config.ts";

type RequestAuth = { ok: true; apiKey?: string; headers?: Record<string, string> } | { ok: false; error: string };

interface ProviderAuth {
  auth: { apiKey?: string; headers?: Record<string, string>; baseUrl?: string };
  /** Says for people where the key is from. */
  source?: string;
}

export interface ModelAccess {
  getAll(): Model[];
  /** The models whose provider can be used. */
  getAvailable(): Model[];
  find(provider: string, modelId: string): Model | undefined;
  /** There are chat models only, also for the functions with `OfType` below: scripts of `codemode` have the others. */
  findOfType(type: string, provider: string, modelId: string): Model | undefined;
  getModelOfType: ModelAccess["findOfType"];
  getModelsOfType(type: string, provider?: string): readonly Model[];
  getAvailableOfType(type: string, provider?: string): Promise<readonly Model[]>;
  /** The model of a role such as `plan`; undefined if the role has none of its own, or it cannot be used. */
  findRole(role: string): { model: Model; thinkingLevel?: ThinkingLevel } | undefined;
  hasConfiguredAuth(model: Pick<Model, "provider">): boolean;
  /** Whether the user has logged in through the provider's page. */
  isUsingOAuth(model: Pick<Model, "provider">): boolean;
  getApiKeyAndHeaders(model: Model): Promise<RequestAuth>;
  getApiKey(model: Model): Promise<string | undefined>;
  getApiKeyForProvider(provider: string): Promise<string | undefined>;
  /** Reads no key. `source` is given for a key or a login that is stored. */
  getProviderAuthStatus(provider: string): { configured: boolean; source?: "stored" };
  /** Returns what requests to a provider are sent with. Undefined if there is neither a key nor a header. */
  getProviderAuth(provider: string): Promise<ProviderAuth | undefined>;
  /** The name for people. */
  getProviderDisplayName(provider: string): string;
  displayName(provider: string): string | undefined;
  /** Returns what is wrong with `models.json`. */
  getError(): string | undefined;
  refresh(): Promise<void>;
  /** Asks a model with the keys and settings of the session. The answer is not in the log. */
  streamSimple(model: Model, context: Context, options?: SimpleStreamOptions): AssistantMessageEventStream;
  stream: ModelAccess["streamSimple"];
  complete(model: Model, context: Context, options?: SimpleStreamOptions): Promise<AssistantMessage>;
  registerProvider(name: string, config: ProviderConfig): void;
  unregisterProvider(name: string): void;
  /** Lists the providers of all extensions of the session. */
  getRegisteredProviderIds(): readonly string[];
  getRegisteredProviderConfig(name: string): ProviderConfig | undefined;
}
