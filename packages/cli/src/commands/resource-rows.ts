/** The resources of a person or a project, one by one, and how single ones are turned on and off. */
import { join, relative } from "node:path";
import { systemIds } from "@tau/ai";
import {
  type DetailedEntry,
  getEntryId,
  getPackageEntries,
  getScopeDirectory,
  inspectPackages,
  listResources,
  type PackageProblem,
  type ResolvedPackage,
  type ResourceKind,
  resourceKinds,
  toDetailed,
  toEntry,
  toggleResource,
  toSettingsScope,
} from "@tau/config/installs";
import { keepTrust } from "@tau/config/trust";
import { createPathFilter } from "@tau/config/settings";
import { changePackages, type PackageContext } from "./package-context.ts";

export type ResourceRow = OwnRow | PackageRow;

interface RowBase {
  /** From the directory of the settings or the root of the package. */
  readonly name: string;
  readonly path: string;
  /** For people: the source of the package, or the directory. */
  readonly from: string;
  readonly isOn: boolean;
}

/** A file in the directory of the settings. */
interface OwnRow extends RowBase {
  readonly kind: ListedKind;
  readonly package: undefined;
}

interface PackageRow extends RowBase {
  readonly kind: ResourceKind;
  readonly package: ResolvedPackage;
}

/** The kinds with a list in the settings. An agent is left out by removing its file. */
const listedKinds = ["extensions", "skills", "prompts", "themes"] as const;
type ListedKind = (typeof listedKinds)[number];

/** Lists the resources that the settings of the scope can turn on and off: its own directory, and packages. */
export async function listRows(
  context: PackageContext,
): Promise<{ rows: readonly ResourceRow[]; problems: readonly PackageProblem[] }> {
  const { settings, scope } = context;
  const directory = getScopeDirectory(scope, context);
  const own = listResources(directory, undefined);
  const ownRows = listedKinds.flatMap((kind) => {
    const filter = createPathFilter(settings.getGiven(toSettingsScope(scope), kind) ?? []);
    return own[kind].map((name): OwnRow => {
      const path = join(directory, name);
      return { kind, name, path, from: directory, isOn: filter.includes(path), package: undefined };
    });
  });
  const all = getPackageEntries(settings);
  const entries = scope === "project" ? all : { ...all, project: [] };
  const { packages, problems } = await inspectPackages({ ...context, entries });
  const packageRows = packages.flatMap((each) =>
    resourceKinds.flatMap((kind) =>
      each.names[kind].map((name): PackageRow => {
        const path = join(each.resources.root, name);
        const isOn = each.resources[kind].some((other) => other === path || each.resources.root === other);
        return { kind, name, path, from: each.configured.entry.source, isOn, package: each };
      }),
    ),
  );
  return { rows: [...ownRows, ...packageRows], problems };
}

/** Writes a filter into the settings of the scope, or takes one out. */
export async function turn(row: ResourceRow, isOn: boolean, context: PackageContext): Promise<void> {
  if (row.package) await turnInPackage(row, isOn, context);
  else await turnInDirectory(row, isOn, context);
}

async function turnInDirectory({ kind, path }: OwnRow, isOn: boolean, context: PackageContext) {
  const { cwd, agentDir, settings, scope } = context;
  const settingsScope = toSettingsScope(scope);
  const directory = getScopeDirectory(scope, context);
  const toChanges = () => {
    const before = settings.getGiven(settingsScope, kind) ?? [];
    const others = before.filter((entry) => entry !== `+${path}` && entry !== `-${path}`);
    const isSame = createPathFilter(others).includes(path) === isOn;
    const list = isSame ? others : [...others, `${isOn ? "+" : "-"}${path}`];
    return { [kind]: list.length === 0 ? undefined : list.map((entry) => toWritten(entry, directory)) };
  };
  const around = (write: () => Promise<void>) =>
    scope === "project" ? keepTrust({ cwd, agentDir, ids: systemIds }, write) : write();
  await settings.update(settingsScope, toChanges, around);
}

/** An entry with an absolute path, as it is written into the settings in `directory`: short where the file is below it. */
function toWritten(entry: string, directory: string): string {
  const sign = /^[!+-]/.exec(entry)?.[0] ?? "";
  const path = entry.slice(sign.length);
  return path.startsWith(`${directory}/`) ? `${sign}${relative(directory, path)}` : entry;
}

/** A package of the user's is filtered for one project by an entry of the project. */
async function turnInPackage(
  { kind, name, package: { configured, names } }: PackageRow,
  isOn: boolean,
  context: PackageContext,
): Promise<void> {
  const id = configured.source.id;
  const user = getPackageEntries(context.settings).user.find((entry) => getEntryId(entry) === id);
  await changePackages(context, (entries) => {
    const index = entries.findIndex((entry) => getEntryId(entry) === id);
    const entry: DetailedEntry =
      index === -1 ? { source: configured.entry.source, autoload: false } : toDetailed(entries[index]!);
    const isFilter = entry.autoload === false && context.scope === "project" && user !== undefined;
    const userList = isFilter ? toDetailed(user)[kind] : undefined;
    const toggle = { names: names[kind], name, isOn, earlier: userList ? [userList] : [] };
    const { [kind]: list, ...others } = entry;
    const changed = toggleResource(list, toggle);
    const next: DetailedEntry = changed ? { ...others, [kind]: changed } : others;
    const isEmpty = isFilter && resourceKinds.every((each) => next[each] === undefined);
    const after = isEmpty ? [] : [toEntry(next)];
    return index === -1 ? [...entries, ...after] : [...entries.slice(0, index), ...after, ...entries.slice(index + 1)];
  });
}
