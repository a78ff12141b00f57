/** Loads the extensions of a session, before there is a session: they may bring its model. */
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { Owned } from "../agent-session/owned.ts";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { ExtensionAPI } from "./api.ts";
import { createApi, createEventBus } from "./create-api.ts";
import { createLifetime } from "./create-context.ts";
import { createRegistrations, type Extension, type ExtensionProblem, type ExtensionSource } from "./extension.ts";
import type { ExtensionPlace, ExtensionsParams, InlineExtension } from "./has-extensions.ts";
import { createProviders } from "./providers.ts";
import type { LoadedExtensions } from "./session/session-extensions.ts";
import type { ExtensionSessionPort } from "./session-port.ts";
import { createWaits } from "./waits.ts";

export interface OpenExtensionsParts extends ExtensionPlace {
  registry: ModelRegistry;
  owned: Owned;
  clock: Clock;
}

export async function openExtensions(
  { factories = [], flags = new Map() }: ExtensionsParams,
  { registry, owned }: OpenExtensionsParts,
): Promise<LoadedExtensions> {
  let session: ExtensionSessionPort | undefined;
  const lifetime = createLifetime();
  const events = createEventBus();
  const problems: ExtensionProblem[] = [];
  const extensions: Extension[] = [];
  const findFlag = (name: string) => extensions.find((extension) => extension.flags.has(name))?.flags.get(name);
  const listMcpServers = () =>
    extensions.flatMap(({ mcpServers, source }) =>
      [...mcpServers].map(([name, config]) => ({ name, config, extensionPath: source.path })),
    );
  for (const [index, inline] of factories.entries()) {
    const source = describeInline(inline, index);
    const registrations = createRegistrations();
    const api: ExtensionAPI = createApi({
      registrations,
      lifetime,
      events,
      getSession: () => session,
      flagValues: flags,
      findFlag: (name) => findFlag(name) ?? registrations.flags.get(name),
      listMcpServers,
      report: (message) => void problems.push({ extension: source.name, message }),
    });
    try {
      await (typeof inline === "function" ? inline : inline.factory)(api);
      extensions.push({ ...registrations, source, state: "trusted", host: "process", close: async () => {} });
    } catch (error) {
      problems.push({ extension: source.name, message: `It could not be loaded: ${getErrorMessage(error)}` });
    }
  }
  const providers = createProviders(registry);
  owned.add(() => providers.close());
  for (const extension of extensions) {
    for (const [name, config] of extension.providers) {
      try {
        providers.register(name, config);
      } catch (error) {
        problems.push({ extension: extension.source.name, message: getErrorMessage(error) });
      }
    }
  }
  return {
    extensions,
    problems,
    lifetime,
    waits: createWaits(),
    events,
    providers,
    bind: (port) => void (session = port),
  };
}

function describeInline(inline: InlineExtension, index: number): ExtensionSource {
  const name = `<inline:${typeof inline === "function" ? inline.name || index + 1 : inline.name}>`;
  const info = { path: name, source: "inline", scope: "temporary", origin: "top-level" } as const;
  return { id: name, name, path: name, origin: "inline", digest: "", info };
}
