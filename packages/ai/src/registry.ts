/** The implementations of all APIs, built-in and registered. */
import type { Context } from "./context.ts";
import type { AssistantMessageEventStream } from "./event-stream.ts";
import type { Api, KnownApi, Model } from "./model.ts";
import type { ProviderStreamOptions, SimpleStreamOptions, StreamOptions } from "./options.ts";
import { protocols } from "./protocols/index.ts";
import type { Protocol } from "./protocols/protocol.ts";
import { startRequest } from "./protocols/start.ts";

/** Must return a stream immediately and report every failure through it. */
export type StreamFunction<TApi extends Api = Api, TOptions extends StreamOptions = StreamOptions> = (
  model: Model<TApi>,
  context: Context,
  options?: TOptions,
) => AssistantMessageEventStream;

/** Implements one API. `stream` takes the API's own options, `streamSimple` the options that all APIs share. */
export interface ApiProvider<TApi extends Api = Api, TOptions extends StreamOptions = StreamOptions> {
  api: TApi;
  stream: StreamFunction<TApi, TOptions>;
  streamSimple: StreamFunction<TApi, SimpleStreamOptions>;
}

interface Registration {
  provider: ApiProvider;
  sourceId: string | undefined;
}

const registered = new Map<string, Registration>();

/** Adds an API, or replaces a built-in one. `unregisterApiProviders` removes all with the same `sourceId`. */
export function registerApiProvider<TApi extends Api, TOptions extends StreamOptions>(
  provider: ApiProvider<TApi, TOptions>,
  sourceId?: string,
): void {
  registered.set(provider.api, { provider: provider as unknown as ApiProvider, sourceId });
}

export function getApiProvider(api: Api): ApiProvider | undefined {
  return registered.get(api)?.provider ?? getBuiltinProvider(api);
}

export function getApiProviders(): ApiProvider[] {
  const apis = new Set([...Object.keys(protocols), ...registered.keys()]);
  return [...apis].map(getApiProvider).filter((provider) => provider !== undefined);
}

/** Removes everything registered with `sourceId`. Built-in APIs that it replaced become available again. */
export function unregisterApiProviders(sourceId: string): void {
  for (const [api, registration] of registered) if (registration.sourceId === sourceId) registered.delete(api);
}

/** Removes all registered APIs. The built-in ones stay. */
export function clearApiProviders(): void {
  registered.clear();
}

/** By the name of a provider: what sends the requests of its models in place of their API, the newest last. */
const ownStreams = new Map<string, readonly ApiProvider[]>();

/** Replaces an API for the models of one provider only. The newest applies, as long as it is there. Returns what removes it. */
export function replaceApi(providerName: string, own: ApiProvider): () => void {
  ownStreams.set(providerName, [...(ownStreams.get(providerName) ?? []), own]);
  return () => {
    const others = ownStreams.get(providerName)?.filter((each) => each !== own) ?? [];
    if (others.length > 0) ownStreams.set(providerName, others);
    else ownStreams.delete(providerName);
  };
}

/** Finds what sends the requests of a model. */
export const findStreams = ({ provider, api }: Model): ApiProvider | undefined =>
  findRegisteredStreams({ provider, api }) ?? getBuiltinProvider(api);

/** Finds what was registered to send the requests of a model, in place of ours. */
export const findRegisteredStreams = ({ provider, api }: Pick<Model, "provider" | "api">): ApiProvider | undefined =>
  ownStreams.get(provider)?.findLast((own) => own.api === api) ?? registered.get(api)?.provider;

/** The implementation of ours, also where another one was registered in its place. */
export function getBuiltinProvider(api: Api): ApiProvider | undefined {
  const load = protocols[api as KnownApi];
  return load && getProvider(api, load);
}

/** An API provider that loads its protocol with the first request. */
export function getProvider(api: Api, load: () => Promise<Protocol>): ApiProvider {
  return {
    api,
    stream: (model, context, options = {}) =>
      startRequest(load, { model, context, options: () => options as ProviderStreamOptions, clock: options.clock }),
    streamSimple: (model, context, options = {}) =>
      startRequest(load, {
        model,
        context,
        options: (protocol) => protocol.resolveOptions(model, options),
        clock: options.clock,
      }),
  };
}
