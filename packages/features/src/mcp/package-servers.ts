/** The servers that installed packages bring, plugins of Claude Code among them. */
import { isRecord } from "@tau/ai/internal";
import type { PackageServers } from "@tau/config/installs";
import { hasPackages } from "@tau/config/settings";
import type { FeaturePlace } from "@tau/extensions";
import type { McpServerList } from "./parse-entries.ts";

/** Leaves out those of a project that is not trusted. Most users have no packages, and then their code is not loaded. */
export async function readPackageServers(
  place: Pick<FeaturePlace, "cwd" | "agentDir" | "settings">,
): Promise<McpServerList[]> {
  if (!hasPackages(place.settings)) return [];
  const { listPackageServers } = await import("@tau/config/installs");
  return (await listPackageServers(place)).map(toServerList);
}

/** The directory is that of one version, so an update of the package is a change of its entries and is asked about. */
export const toServerList = ({ root, directory, servers }: PackageServers): McpServerList => ({
  source: { scope: "package", path: root, readablePaths: [directory] },
  servers: fillRoot(servers, root),
});

/** Filled in here and not with the other variables: it is no variable of the user's, and the question shows the whole path. */
function fillRoot(value: unknown, root: string): unknown {
  if (typeof value === "string") return value.replaceAll(/\$\{CLAUDE_PLUGIN_ROOT(?::-[^}]*)?\}/g, () => root);
  if (Array.isArray(value)) return value.map((each) => fillRoot(each, root));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fillRoot(each, root)]));
}
