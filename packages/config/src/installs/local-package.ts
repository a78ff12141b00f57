/** Packages that stay where they are. */
import { basename } from "node:path";
import { lookAt, nodeFileSystem } from "@tau/tools/platform";
import { listResources, type ResourceNames } from "./list-resources.ts";
import { type Manifest, readManifest } from "./manifest.ts";

/** A directory, or a file that is one extension. Undefined if there is neither. */
export async function readLocalPackage(
  path: string,
): Promise<{ root: string; isFile: boolean; manifest: Manifest | undefined; names: ResourceNames } | undefined> {
  const stats = await lookAt(nodeFileSystem, path);
  if (stats?.isDirectory()) {
    const manifest = readManifest(path);
    return { root: path, isFile: false, manifest, names: listResources(path, manifest) };
  }
  if (!stats?.isFile()) return undefined;
  const names = { extensions: [basename(path)], skills: [], prompts: [], themes: [], agents: [] };
  return { root: await nodeFileSystem.realpath(path), isFile: true, manifest: undefined, names };
}
