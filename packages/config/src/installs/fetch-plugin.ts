/** Fetches plugins of marketplaces. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HarnessError } from "@tau/protocol";
import { fetchGit } from "./fetch-git.ts";
import type { Fetched, FetchPorts } from "./fetch-ports.ts";
import type { LockedPackage, LockedPlugin } from "./lock-file.ts";
import { emptyManifest, readPluginManifest } from "./manifest.ts";
import { findPlugin, type Marketplace } from "./marketplaces.ts";
import { type GitSource, parseSource, type PluginSource } from "./package-source.ts";
import { getKind } from "./read-directory.ts";
import { checkTree } from "./tree.ts";

/**
 * Fetches a plugin into `directory`, without what is beside it in its repository. With `locked`, exactly that; else what the
 * marketplace lists.
 */
export async function fetchPlugin(
  source: PluginSource,
  { directory, locked }: { directory: string; locked: LockedPackage | undefined },
  { marketplaces, ...ports }: FetchPorts & { marketplaces: readonly Marketplace[] },
): Promise<Fetched> {
  const { repository, plugin, wanted } = locked?.plugin
    ? { repository: parseRepository(locked.plugin), plugin: locked.plugin, wanted: locked }
    : locate(source, marketplaces);
  const fetched = await fetchGit(repository, { directory, locked: wanted, path: plugin.path }, ports);
  // Before anything is written there: not through a link that leads out.
  await checkTree(directory);
  const { manifest, ...place } = plugin;
  const isWithout = manifest !== undefined && getKind(join(directory, ".claude-plugin", "plugin.json")) === undefined;
  if (isWithout) await writeManifest(directory, manifest);
  return {
    root: directory,
    manifest: readPluginManifest(directory) ?? emptyManifest,
    locked: { ...fetched.locked, plugin: isWithout ? plugin : place },
  };
}

function locate(source: PluginSource, marketplaces: readonly Marketplace[]) {
  const target = findPlugin(source, marketplaces);
  // The caller installs these by their own source.
  if (target.kind === "source") throw new HarnessError("install_failed", `Install it by its source: ${target.text}`);
  const { repository, plugin, commit } = target;
  return { repository, plugin, wanted: commit === undefined ? undefined : { resolved: commit } };
}

function parseRepository({ source }: LockedPlugin): GitSource {
  const repository = parseSource(source, "/");
  if (repository.kind !== "git") throw new HarnessError("invalid_input", `${source} is not a repository.`);
  return repository;
}

async function writeManifest(directory: string, manifest: Readonly<Record<string, unknown>>): Promise<void> {
  const parent = join(directory, ".claude-plugin");
  if (getKind(parent) === "file")
    throw new HarnessError("install_failed", "The package is refused: its .claude-plugin is not a directory.");
  await mkdir(parent, { recursive: true });
  await writeFile(join(parent, "plugin.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}
