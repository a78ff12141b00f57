/** The marketplaces that are installed, and the plugins that they list. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { didYouMean } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { isWithin } from "@tau/tools/platform";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { PackageDirectories } from "./install-location.ts";
import type { LockedPlugin } from "./lock-file.ts";
import type { ListedPlugin, MarketplaceManifest } from "./marketplace-manifest.ts";
import type { PackageScope } from "./package-resources.ts";
import { getPackageEntries } from "./package-settings.ts";
import { type GitSource, type PackageSource, parseSource, type PluginSource } from "./package-source.ts";
import { orUndefinedSync } from "./read-directory.ts";
import { inspectPackages } from "./resolve-packages.ts";

export interface Marketplace extends MarketplaceManifest {
  readonly source: PackageSource;
  readonly root: string;
  /** The commit of its repository that is installed; undefined for a directory of the user's. */
  readonly commit: string | undefined;
}

/** Lists the marketplaces of a scope. A project uses those of the user too, after its own; the user none of a project. */
export async function findMarketplaces(
  { settings, ...directories }: PackageDirectories & { settings: SettingsManager },
  scope: PackageScope,
): Promise<Marketplace[]> {
  const all = getPackageEntries(settings);
  const entries = { user: all.user, project: scope === "project" ? all.project : [] };
  const { packages } = await inspectPackages({ ...directories, entries });
  const found = packages.flatMap(({ configured, marketplace, resolved, resources: { root } }) =>
    marketplace ? [{ ...marketplace, source: configured.source, root, commit: resolved, scope: configured.scope }] : [],
  );
  return found.sort((a, b) => Number(b.scope === scope) - Number(a.scope === scope));
}

/** Where a listed plugin is fetched from. */
export type PluginTarget =
  | {
      readonly kind: "repository";
      readonly repository: GitSource;
      readonly commit?: string;
      readonly plugin: LockedPlugin;
    }
  /** A source of its own, which stays as it is: a directory of a local marketplace, or a package of npm. */
  | { readonly kind: "source"; readonly text: string };

/** Throws `HarnessError` `invalid_input` if there is no such plugin, `install_failed` if it cannot be fetched. */
export function findPlugin({ name, marketplace }: PluginSource, marketplaces: readonly Marketplace[]): PluginTarget {
  const listing = marketplaces.find((each) => each.name === marketplace);
  if (!listing) {
    const names = marketplaces.map((each) => each.name);
    const advice = didYouMean(marketplace, names) || " Install it first, by its repository: tau install SOURCE";
    throw new HarnessError("invalid_input", `There is no marketplace ${JSON.stringify(marketplace)}.${advice}`);
  }
  const listed = listing.plugins.find((each) => each.name === name);
  if (!listed) {
    const names = listing.plugins.map((each) => each.name);
    const advice = didYouMean(name, names) || ` It lists: ${names.slice(0, 20).join(", ")}`;
    const message = `The marketplace ${marketplace} lists no plugin ${JSON.stringify(name)}.${advice}`;
    throw new HarnessError("invalid_input", message);
  }
  return toTarget(listed, listing);
}

function toTarget({ name, location, manifest }: ListedPlugin, marketplace: Marketplace): PluginTarget {
  const refuse = (reason: string) =>
    new HarnessError("install_failed", `The plugin ${name} of the marketplace ${marketplace.name} ${reason}.`);
  const { source, root, commit } = marketplace;
  switch (location?.kind) {
    case undefined:
      throw refuse("has a source that tau cannot fetch");
    case "npm":
      return { kind: "source", text: location.source };
    case "inside": {
      if (source.kind === "local") {
        const path = join(root, location.path);
        if (!isReallyWithin(root, path)) throw refuse("is not in the directory of the marketplace");
        return { kind: "source", text: path };
      }
      if (source.kind !== "git" || commit === undefined) throw refuse("is in a package of npm, which tau cannot split");
      const plugin = { source: `git:${source.url}`, path: location.path, manifest };
      return { kind: "repository", repository: source, commit, plugin };
    }
    case "git": {
      const repository = parseSource(location.source, "/");
      if (repository.kind !== "git") throw refuse("has a source that tau cannot fetch");
      // The user's files and keys are not for what others write.
      if (!isOpenTo(repository, source)) throw refuse("is not at an https address");
      return { kind: "repository", repository, plugin: { ...location, manifest } };
    }
  }
}

const getScheme = ({ url }: GitSource): string => /^([a-z]+):\/\//i.exec(url)?.[1]?.toLowerCase() ?? "ssh";

const isOpenTo = (repository: GitSource, marketplace: PackageSource): boolean =>
  getScheme(repository) === "https" ||
  marketplace.kind === "local" ||
  (marketplace.kind === "git" && getScheme(marketplace) === getScheme(repository));

function isReallyWithin(root: string, path: string): boolean {
  const [realRoot, real] = [root, path].map((each) => orUndefinedSync(() => realpathSync.native(each)));
  return realRoot !== undefined && real !== undefined && isWithin(realRoot, real);
}
