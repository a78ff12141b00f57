import type { LockedPackage } from "./lock-file.ts";
import type { Manifest } from "./manifest.ts";

/** The ports that fetching a package needs. */
export interface FetchPorts {
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  /** Releases on npm that are younger are ignored; undefined for any age. */
  before: Date | undefined;
  /** How much git may download for one package. Default 1 GB, which is also the limit of its files. */
  maxDownloadBytes?: number | undefined;
}

/** A package that was fetched into a directory. */
export interface Fetched {
  /** The directory of the package. */
  readonly root: string;
  readonly manifest: Manifest;
  readonly locked: Omit<LockedPackage, "source" | "digest">;
}
