/** Compares two versions of a plugin or a marketplace. */
import { lookAt, nodeFileSystem } from "@tau/tools/platform";
import type { ListedPlugin } from "./marketplace-manifest.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { readHooks } from "./plugin.ts";
import { digestFiles } from "./tree.ts";

/** Names, sorted. */
export interface NameChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export interface PackageChanges {
  /** The plugins that a marketplace lists, by name. One with other files in the marketplace itself has changed. */
  readonly plugins: NameChanges;
  readonly hooks: NameChanges;
  readonly servers: NameChanges;
  readonly files: NameChanges;
}

interface PackageVersion {
  readonly root: string;
  readonly manifest: Manifest | undefined;
}

/** Undefined if the files of the version before are not there. */
export async function comparePackages(before: string, after: PackageVersion): Promise<PackageChanges | undefined> {
  if (!(await lookAt(nodeFileSystem, before))?.isDirectory()) return undefined;
  const manifest = readManifest(before);
  const [oldFiles, newFiles] = await Promise.all([digestFiles(before), digestFiles(after.root)]);
  const files = compare(oldFiles, newFiles);
  return {
    plugins: comparePlugins(manifest, after.manifest, files),
    hooks: compare(toTexts(readHooks(before)), toTexts(readHooks(after.root))),
    servers: compare(toTexts(manifest?.servers ?? {}), toTexts(after.manifest?.servers ?? {})),
    files,
  };
}

function comparePlugins(before: Manifest | undefined, after: Manifest | undefined, files: NameChanges): NameChanges {
  const touched = [...files.added, ...files.changed, ...files.removed];
  const isTouched = ({ location }: ListedPlugin) =>
    location?.kind === "inside" && touched.some((name) => location.path === "" || name.startsWith(`${location.path}/`));
  const list = ({ marketplace }: Partial<Manifest> = {}) =>
    new Map((marketplace?.plugins ?? []).map((plugin) => [plugin.name, JSON.stringify(plugin)] as const));
  const changes = compare(list(before), list(after));
  const inside = (after?.marketplace?.plugins ?? []).filter(isTouched).map(({ name }) => name);
  const others = inside.filter((name) => !changes.added.includes(name));
  return { ...changes, changed: [...new Set([...changes.changed, ...others])].sort() };
}

const toTexts = (values: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));

function compare(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): NameChanges {
  const added = [...after.keys()].filter((name) => !before.has(name));
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const changed = [...after].filter(([name, text]) => before.has(name) && before.get(name) !== text);
  return { added: added.sort(), changed: changed.map(([name]) => name).sort(), removed: removed.sort() };
}
