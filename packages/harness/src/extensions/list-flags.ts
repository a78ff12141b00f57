/** The flags of all extensions, for a list of them. No session is opened, and no process of an isolated extension starts. */
import { systemClock } from "@tau/ai";
import type { FlagDefinition } from "./api.ts";
import type { ExtensionProblem, ExtensionSource } from "./extension.ts";
import { type ExtensionPlace, type ExtensionsParams, hasExtensions } from "./has-extensions.ts";
import { loadWithoutSession } from "./load-without-session.ts";

export interface ExtensionFlags {
  readonly source: Pick<ExtensionSource, "name">;
  readonly flags: ReadonlyMap<string, FlagDefinition>;
}

/** In the order of the extensions. Those of an isolated extension are known once it has run. */
export async function listFlags(
  params: ExtensionsParams,
  place: ExtensionPlace,
): Promise<{ extensions: ExtensionFlags[]; problems: readonly ExtensionProblem[] }> {
  if (!hasExtensions(params, place)) return { extensions: [], problems: [] };
  const loaded = await loadWithoutSession(params, { ...place, clock: systemClock, report: () => {} });
  const bySource = new Map(loaded.extensions.map((extension) => [extension.source, extension.flags]));
  const extensions: ExtensionFlags[] = [];
  for (const { source, state } of loaded.found) {
    const flags = state === "acknowledged" ? await readRemembered(source, place) : bySource.get(source);
    if (flags) extensions.push({ source, flags });
  }
  for (const extension of loaded.extensions) await extension.close();
  return { extensions, problems: loaded.problems };
}

/** Late, because few users have isolated extensions. */
async function readRemembered(
  { digest, path }: ExtensionSource,
  { agentDir }: ExtensionPlace,
): Promise<ReadonlyMap<string, FlagDefinition> | undefined> {
  const { readManifest } = await import("./isolated/manifest-cache.ts");
  const manifest = readManifest({ agentDir, digest, path });
  return manifest && new Map(manifest.flags.map(({ name, flag }) => [name, flag]));
}
