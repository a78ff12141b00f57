/**
 * Remembers what extensions register, by their content, so that the process of one need not be started to know its tools. The
 * file is in the user's own directory, which no extension behind the wall can write to.
 */
import { hash } from "node:crypto";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { readWhole, writeWhole } from "../../durable-file.ts";
import type { Manifest } from "./manifest.ts";
import { parseManifest } from "./parse-manifest.ts";

/** Changes whenever a manifest of before means something else. */
const version = 1;
const maxBytes = 8 * 1024 * 1024;

export interface ManifestCacheOptions {
  agentDir: string;
  /** Of the content of the extension. */
  digest: string;
  /** The file that is loaded: the extensions of one package have one content. */
  path: string;
  fileSystem?: FileSystem;
}

const getPath = ({ agentDir, digest, path }: ManifestCacheOptions): string =>
  join(agentDir, "cache", "extensions", `registered-${hash("sha256", `${digest}\n${path}`, "hex")}.json`);

/** Undefined where nothing usable is remembered. */
export async function readManifest(options: ManifestCacheOptions): Promise<Manifest | undefined> {
  const bytes = await readWhole(options.fileSystem ?? nodeFileSystem, getPath(options), maxBytes);
  const stored = bytes && tryParseJson(bytes.toString("utf8"));
  return isRecord(stored) && stored["version"] === version ? parseManifest(stored["manifest"]) : undefined;
}

export async function writeManifest(manifest: Manifest, options: ManifestCacheOptions): Promise<void> {
  const { fileSystem = nodeFileSystem } = options;
  const bytes = Buffer.from(`${JSON.stringify({ version, manifest })}\n`);
  // What is lost with the power is learned again.
  await writeWhole(fileSystem, { path: getPath(options), bytes, ids: systemIds, syncs: false });
}
