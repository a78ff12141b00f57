/** Lets extensions see and change what is sent to a provider and what it answers. */
import type { StreamFn } from "@tau/agent";
import type { SimpleStreamOptions } from "@tau/ai";
import type { ExtensionHooks } from "@tau/extensions";

/** Adds a hook for each event that is handled, so that a request without handlers is as it was. */
export function withProviderHooks(streamFn: StreamFn, getExtensions: () => ExtensionHooks | undefined): StreamFn {
  return (model, context, options = {}) => {
    const extensions = getExtensions();
    return streamFn(model, context, extensions ? { ...options, ...createHooks(extensions, options) } : options);
  };
}

function createHooks(extensions: ExtensionHooks, options: SimpleStreamOptions): SimpleStreamOptions {
  const { onPayload, onHeaders, onResponse, onProviderStreamEvent } = options;
  return {
    ...(extensions.has("before_provider_request") && {
      async onPayload(payload, model) {
        const own = (await onPayload?.(payload, model)) ?? payload;
        return (await extensions.emit({ type: "before_provider_request", payload: own }))?.payload ?? own;
      },
    }),
    ...(extensions.has("before_provider_headers") && {
      async onHeaders(headers, model) {
        await onHeaders?.(headers, model);
        await extensions.emit({ type: "before_provider_headers", headers });
      },
    }),
    ...(extensions.has("after_provider_response") && {
      async onResponse(response, model) {
        await onResponse?.(response, model);
        await extensions.emit({ type: "after_provider_response", ...response });
      },
    }),
    ...(extensions.has("provider_stream_event") && {
      onProviderStreamEvent(data, model) {
        onProviderStreamEvent?.(data, model);
        const { provider, api, id } = model;
        void extensions.emit({ type: "provider_stream_event", provider, api, model: id, data });
      },
    }),
  };
}
