/** The entries of the setting `packages`. */
import { expandHome } from "../files/agent-dir.ts";
import type { Field } from "../fields/field.ts";
import { flag, list, nonEmptyText, object, optional } from "../fields/kinds.ts";
import type { Shape } from "../settings/shape.ts";
import { type ResourceKind, resourceKinds } from "./package-resources.ts";
import { parseSource } from "./package-source.ts";

/** Which resources of a package are used, by kind; see `filterResources`. */
type ResourceFilters = { readonly [Kind in ResourceKind]?: readonly string[] };

export interface DetailedEntry extends ResourceFilters {
  readonly source: string;
  /** Default true. False in a project: the filters are added to those of the user's entry for the same package. */
  readonly autoload?: boolean;
}

export type PackageEntry = string | DetailedEntry;

export const toDetailed = (entry: PackageEntry): DetailedEntry =>
  typeof entry === "string" ? { source: entry } : entry;

/** A plain source where nothing more is said about the package. */
export const toEntry = (entry: DetailedEntry): PackageEntry =>
  entry.autoload === undefined && resourceKinds.every((kind) => entry[kind] === undefined) ? entry.source : entry;

const patterns = optional(list(nonEmptyText));
const detailed = object({
  source: nonEmptyText,
  autoload: optional(flag),
  extensions: patterns,
  skills: patterns,
  prompts: patterns,
  themes: patterns,
  agents: patterns,
});

const packageEntry: Field<PackageEntry> = {
  type: "string | { source, autoload, extensions, skills, prompts, themes, agents }",
  schema: { anyOf: [nonEmptyText.schema, detailed.schema] },
  read: (value, context) => (typeof value === "string" ? nonEmptyText : detailed).read(value, context) as PackageEntry,
};

/** Paths are from the directory of the settings file. */
export const packageEntries: Shape<readonly PackageEntry[]> = {
  ...list(packageEntry),
  resolve: (entries, { directory, home }) =>
    entries.map((entry) => {
      const { source, ...rest } = toDetailed(entry);
      const parsed = parseSource(source, directory, (path) => expandHome(path, home));
      return toEntry({ ...rest, source: parsed.kind === "local" ? parsed.path : source });
    }),
};
