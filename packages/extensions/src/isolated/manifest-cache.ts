/**
 * Remembers what extensions register, by their content, so that the process of one need not be started to know its tools. The
 * file is in the user's own directory, which no isolated extension can write to.
 */
import { hash } from "node:crypto";
import { join } from "node:path";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { type CachedFile, readCachedFile, writeCachedFile } from "../load/cached-file.ts";
import type { Manifest } from "./manifest.ts";
import { parseManifest } from "./parse-manifest.ts";

/** Changes whenever a manifest of before means something else. */
const version = 3;

export interface ManifestCacheOptions {
  agentDir: string;
  /** The digest of the content of the extension. */
  digest: string;
  /** The file that is loaded: the extensions of one package have one content. */
  path: string;
}

function locate({ agentDir, digest, path }: ManifestCacheOptions): CachedFile {
  const key = hash("sha256", `${digest}\n${path}`, "hex");
  return { key, path: join(agentDir, "cache", "extensions", `registered-${key}.json`) };
}

/** Undefined where nothing usable is remembered. */
export function readManifest(options: ManifestCacheOptions): Manifest | undefined {
  const stored = tryParseJson(readCachedFile(locate(options))?.toString("utf8") ?? "");
  return isRecord(stored) && stored["version"] === version ? parseManifest(stored["manifest"]) : undefined;
}

/** Writes the manifest. If that fails, it is learned again the next time. */
export const writeManifest = (manifest: Manifest, options: ManifestCacheOptions): Promise<void> =>
  writeCachedFile(locate(options), Buffer.from(`${JSON.stringify({ version, manifest })}\n`));
