/** Packages: extensions, skills, prompt templates and themes that are installed together. */
export type { ConfiguredPackage } from "./combine-entries.ts";
export { comparePackages, type NameChanges, type PackageChanges } from "./compare-packages.ts";
export { fetchPackage, type FetchedPackage, type FetchOptions } from "./fetch-package.ts";
export { filterResources } from "./filter-resources.ts";
export { findGlobalPackages, type GlobalPackage } from "./global-packages.ts";
export { getOwner, getScopeDirectory, type PackageDirectories } from "./install-location.ts";
export { listResources, type ResourceNames } from "./list-resources.ts";
export { type LockedPackage, type PackageLock, readLock } from "./lock-file.ts";
export { readManifest, type Manifest } from "./manifest.ts";
export type { ListedPlugin, MarketplaceManifest, PluginLocation } from "./marketplace-manifest.ts";
export { findMarketplaces, findPlugin, type Marketplace, type PluginTarget } from "./marketplaces.ts";
export { getEntryId, getEntrySource, locateSource } from "./locate-source.ts";
export { type DetailedEntry, type PackageEntry, toDetailed, toEntry } from "./package-entry.ts";
export { listPackagePaths, listPackageServers, type PackagePaths, type PackageServers } from "./package-paths.ts";
export {
  type PackageProblem,
  type PackageResources,
  type PackageScope,
  type ResourceKind,
  resourceKinds,
} from "./package-resources.ts";
export {
  changePackageEntries,
  getPackageEntries,
  type PackageSettingsPorts,
  toSettingsScope,
} from "./package-settings.ts";
export { isPinned, type PackageSource, parseSource } from "./package-source.ts";
export { findPiPackages, type PiPackagesOptions, takePiPackagesNotice } from "./pi-packages.ts";
export { removePackage } from "./remove-package.ts";
export {
  inspectPackages,
  type ResolvedPackage,
  type ResolvedPackages,
  type ResolveOptions,
  resolvePackages,
} from "./resolve-packages.ts";
export { toggleResource } from "./toggle-resource.ts";
