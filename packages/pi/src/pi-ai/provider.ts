/** A provider made of parts: its models, its credentials and what sends its requests. */
import type { AssistantMessageEventStream, Context, Model, SimpleStreamOptions } from "@tau/ai";
import type { ProviderAuth } from "./auth.ts";
import { lazyStream, type ProviderStreams } from "./lazy.ts";
import { ModelsError } from "./models-error.ts";

export interface Provider extends ProviderStreams {
  readonly id: string;
  readonly name: string;
  readonly baseUrl?: string;
  readonly headers?: Record<string, string | null>;
  readonly auth: ProviderAuth;
  getModels(): readonly Model[];
  refreshModels?(context: unknown): Promise<void>;
}

export interface ProviderOptions {
  id: string;
  /** Default: the id. */
  name?: string;
  baseUrl?: string;
  headers?: Record<string, string | null>;
  auth: ProviderAuth;
  models: readonly Model[];
  fetchModels?(context: unknown): Promise<readonly Model[]>;
  /** An implementation for all models, or one for each API. */
  api?: ProviderStreams | Partial<Record<string, ProviderStreams>>;
}

export function createProvider({ api, models, fetchModels, ...options }: ProviderOptions): Provider {
  if (!api || (!isStreams(api) && Object.keys(api).length === 0)) {
    throw new ModelsError("provider", `The provider ${options.id} has no implementation: set "api".`);
  }
  let current = models;
  const find = (model: Model): ProviderStreams => {
    const implementation = isStreams(api) ? api : api[model.api];
    if (implementation) return implementation;
    throw new ModelsError("provider", `The provider ${options.id} has no implementation of the API ${model.api}.`);
  };
  const start =
    (method: keyof ProviderStreams) =>
    (model: Model, context: Context, request?: SimpleStreamOptions): AssistantMessageEventStream =>
      lazyStream(model, async () => find(model)[method](model, context, request));
  return {
    ...options,
    name: options.name ?? options.id,
    getModels: () => current,
    stream: start("stream"),
    streamSimple: start("streamSimple"),
    ...(fetchModels && {
      async refreshModels(context: unknown) {
        current = [...models, ...(await fetchModels(context))];
      },
    }),
  };
}

const isStreams = (api: NonNullable<ProviderOptions["api"]>): api is ProviderStreams =>
  typeof (api as Partial<ProviderStreams>).streamSimple === "function";
