/** The packages of both scopes, each once. Pure. */
import { type DetailedEntry, type PackageEntry, toDetailed } from "./package-entry.ts";
import { type PackageProblem, type PackageScope, type ResourceKind, resourceKinds } from "./package-resources.ts";
import { type PackageSource, parseSource, withRealPath } from "./package-source.ts";

export interface ConfiguredPackage {
  readonly source: PackageSource;
  /** Where it is installed. */
  readonly scope: PackageScope;
  readonly entry: DetailedEntry;
  /** Applied one after the other. */
  readonly filters: Readonly<Record<ResourceKind, readonly (readonly string[])[]>>;
}

interface CombinedEntries {
  readonly packages: readonly ConfiguredPackage[];
  readonly problems: readonly PackageProblem[];
}

/**
 * A project's entry replaces the user's entry for the same package; with `autoload: false` it filters what the user's entry
 * leaves. Of two entries of one scope the first applies. Local sources are absolute; `toRealPath` makes links to one
 * directory the same package.
 */
export function combineEntries(
  entries: Readonly<Record<PackageScope, readonly PackageEntry[]>>,
  toRealPath: (path: string) => string = (path) => path,
): CombinedEntries {
  const problems: PackageProblem[] = [];
  const byId = new Map<string, ConfiguredPackage>();
  for (const scope of ["user", "project"] as const) {
    const seen = new Set<string>();
    for (const entry of entries[scope].map(toDetailed)) {
      const parsed = parseSource(entry.source, "/");
      if (parsed.kind === "invalid") {
        problems.push({ kind: "invalid", source: entry.source, scope, message: parsed.message });
        continue;
      }
      const source = withRealPath(parsed, toRealPath);
      if (seen.has(source.id)) continue;
      seen.add(source.id);
      const before = byId.get(source.id);
      const isFilter = scope === "project" && entry.autoload === false && before !== undefined;
      byId.set(source.id, isFilter ? addFilters(before, entry) : create(source, scope, entry));
    }
  }
  return { packages: [...byId.values()], problems };
}

const getFilters = (entry: DetailedEntry): ConfiguredPackage["filters"] =>
  mapKinds((kind) => (entry[kind] ? [entry[kind]] : []));

/** With `autoload: false` and nothing to filter, only what the lists name applies. */
function create(source: PackageSource, scope: PackageScope, entry: DetailedEntry): ConfiguredPackage {
  const filters = getFilters(entry);
  const isNamed = (list: readonly string[]) => list.some((pattern) => !/^[!+-]/.test(pattern));
  const toExplicit = (lists: readonly (readonly string[])[]) => (lists.some(isNamed) ? lists : [[], ...lists]);
  const explicit = entry.autoload === false ? mapKinds((kind) => toExplicit(filters[kind])) : filters;
  return { source, scope, entry, filters: explicit };
}

function addFilters(configured: ConfiguredPackage, entry: DetailedEntry): ConfiguredPackage {
  const more = getFilters(entry);
  return { ...configured, filters: mapKinds((kind) => [...configured.filters[kind], ...more[kind]]) };
}

const mapKinds = <T>(toValue: (kind: ResourceKind) => T): Record<ResourceKind, T> =>
  Object.fromEntries(resourceKinds.map((kind) => [kind, toValue(kind)])) as Record<ResourceKind, T>;
