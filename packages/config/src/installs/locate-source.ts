/** Which package a source or an entry of the settings is. */
import { getRealPath } from "../settings/locate.ts";
import { type PackageEntry, toDetailed } from "./package-entry.ts";
import { type PackageSource, type ParsedSource, parseSource, withRealPath } from "./package-source.ts";

/** Parses like `parseSource`, with the id that the package has everywhere. */
export const locateSource = (...args: Parameters<typeof parseSource>): ParsedSource =>
  withRealPath(parseSource(...args), getRealPath);

/** Returns the source of an entry with an absolute path. Undefined if it is not the source of a package. */
export function getEntrySource(entry: PackageEntry): PackageSource | undefined {
  const source = locateSource(toDetailed(entry).source, "/");
  return source.kind === "invalid" ? undefined : source;
}

export const getEntryId = (entry: PackageEntry): string | undefined => getEntrySource(entry)?.id;
