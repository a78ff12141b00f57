/**
 * The flags and providers of all extensions, for a list of them. No session is opened, and no process of an isolated
 * extension starts.
 */
import { systemClock } from "@tau/ai";
import type { FlagDefinition, ProviderConfig } from "../api/api.ts";
import type { Extension, ExtensionProblem, ExtensionSource } from "../api/extension.ts";
import { type ExtensionPlace, type ExtensionsParams, hasExtensions } from "./has-extensions.ts";
import { loadWithoutSession } from "./load-without-session.ts";

export interface ListedRegistrations {
  readonly source: Pick<ExtensionSource, "name">;
  readonly host: Extension["host"];
  readonly flags: ReadonlyMap<string, FlagDefinition>;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** See `Registrations`. Empty for an isolated extension. */
  readonly unknownEvents: readonly string[];
}

/** In the order of the extensions. Those of an isolated extension are known once it has run. */
export async function listRegistrations(
  params: ExtensionsParams,
  place: ExtensionPlace,
): Promise<{ extensions: ListedRegistrations[]; problems: readonly ExtensionProblem[] }> {
  if (!hasExtensions(params, place)) return { extensions: [], problems: [] };
  const loaded = await loadWithoutSession(params, { ...place, clock: systemClock, report: () => {} });
  const bySource = new Map(loaded.extensions.map((extension) => [extension.source, extension]));
  const extensions: ListedRegistrations[] = [];
  for (const { source, state } of loaded.found) {
    const listed = state === "acknowledged" ? await readRemembered(source, place) : bySource.get(source);
    // What is registered is removed when the extension is closed.
    if (!listed) continue;
    const { host, flags, providers, unknownEvents } = listed;
    extensions.push({
      source,
      host,
      flags: new Map(flags),
      providers: new Map(providers),
      unknownEvents: [...unknownEvents],
    });
  }
  for (const extension of loaded.extensions) await extension.close();
  return { extensions, problems: loaded.problems };
}

/** Late, because few users have isolated extensions. */
async function readRemembered(
  { digest, path }: ExtensionSource,
  { agentDir }: ExtensionPlace,
): Promise<Omit<ListedRegistrations, "source"> | undefined> {
  const { readManifest } = await import("../isolated/manifest-cache.ts");
  const manifest = readManifest({ agentDir, digest, path });
  return (
    manifest && {
      host: "isolated",
      flags: new Map(manifest.flags.map(({ name, flag }) => [name, flag])),
      providers: new Map(manifest.providers.map(({ name, provider }) => [name, provider])),
      unknownEvents: [],
    }
  );
}
