import { getErrorMessage } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import {
  type FetchedPackage,
  fetchPackage,
  findMarketplaces,
  findPiPackages,
  findPlugin,
  getEntryId,
  getEntrySource,
  getPackageEntries,
  getScopeDirectory,
  inspectPackages,
  type Marketplace,
  type PackageEntry,
  type PackageSource,
  readLock,
  toDetailed,
  toEntry,
} from "@tau/config/installs";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { askToEnable, describeChanges, describePackage, mustBeAnswerable } from "./enable-packages.ts";
import {
  changePackages,
  getFetchPorts,
  getHome,
  isOwnEntry,
  listOwnEntries,
  openPackageContext,
  type PackageContext,
  readSource,
  storeAnswer,
  toText,
} from "./package-context.ts";
import type { CommandArgs } from "./usage.ts";

/** A package that is to be installed. */
export interface WantedPackage {
  source: PackageSource;
  /** With an absolute path if it is local. */
  entry: PackageEntry;
  /** Whether exactly what the lock has is wanted. */
  asLocked: boolean;
}

/** Without a source: all packages of the settings that are not installed. Nothing is enabled before the user agrees. */
export async function install(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const context = await openPackageContext(args, io);
  const wanted = await listWanted(context, args, io);
  if (wanted.length === 0) {
    const isNone = getPackageEntries(context.settings)[context.scope].length === 0;
    return io.err(isNone ? "No packages are in the settings. Name one: tau install npm:NAME\n" : "All is installed.\n");
  }
  mustBeAnswerable(args, io);
  const { fetched, failures } = await fetchAll(wanted, context, args, io);
  await enableAll(fetched, context, args, io);
  if (failures > 0) return exitCodes.failed;
}

async function listWanted(context: PackageContext, args: CommandArgs, io: Io): Promise<WantedPackage[]> {
  const { settings, scope, agentDir } = context;
  const entries = getPackageEntries(settings)[scope];
  if (args.has("from-pi")) {
    const inPi = await findPiPackages({ home: getHome(io), agentDir, entries });
    return inPi.flatMap((entry) => toWanted(entry, false));
  }
  if (args.positionals.length > 0) {
    const marketplaces = await findMarketplaces(context, scope);
    return args.positionals.map((typed) => {
      const { source, text } = readInstallable(typed, marketplaces, io);
      const before = entries.find((entry) => getEntryId(entry) === source.id);
      const { autoload, ...chosen } = before === undefined ? {} : toDetailed(before);
      // What the user chose of the package before is kept. An entry that was only a filter names a package from now on.
      const kept = autoload !== undefined && isOwnEntry(before!, context) ? { ...chosen, autoload } : chosen;
      return { source, entry: toEntry({ ...kept, source: toText(source, text) }), asLocked: false };
    });
  }
  const lock = await readLock(getScopeDirectory(scope, context));
  const installed = await listInstalled(context);
  return listOwnEntries(context)
    .filter((entry) => !installed.has(getEntryId(entry) ?? ""))
    .flatMap((entry) => toWanted(entry, lock.get(getEntryId(entry) ?? "")?.source === toDetailed(entry).source));
}

/** A plugin that is a directory of a local marketplace, or a package of npm, is installed as that. */
function readInstallable(
  typed: string,
  marketplaces: readonly Marketplace[],
  io: Io,
): { source: PackageSource; text: string } {
  const source = readSource(typed, io);
  const target = source.kind === "plugin" ? findPlugin(source, marketplaces) : undefined;
  return target?.kind === "source"
    ? { source: readSource(target.text, io), text: target.text }
    : { source, text: typed };
}

/** The ids of the packages of the scope whose files are as the lock and the settings say. */
export async function listInstalled(context: PackageContext): Promise<ReadonlySet<string>> {
  const entries = { user: [], project: [], [context.scope]: listOwnEntries(context) };
  const { packages } = await inspectPackages({ ...context, entries });
  return new Set(packages.map(({ configured }) => configured.source.id));
}

function toWanted(entry: PackageEntry, asLocked: boolean): WantedPackage[] {
  const source = getEntrySource(entry);
  return source ? [{ source, entry, asLocked }] : [];
}

export interface FetchedEntry {
  fetched: FetchedPackage;
  entry: PackageEntry;
}

/** Fetches packages. A package that cannot be fetched is named, and the others continue. */
export async function fetchAll(
  wanted: readonly WantedPackage[],
  context: PackageContext,
  args: CommandArgs,
  io: Io,
  isOnly = wanted.length === 1,
): Promise<{ fetched: FetchedEntry[]; failures: number }> {
  const fetched: FetchedEntry[] = [];
  let failures = 0;
  const marketplaces = await findMarketplaces(context, context.scope);
  for (const { source, entry, asLocked } of wanted) {
    const text = toDetailed(entry).source;
    try {
      const options = { ...getFetchPorts(context, args, io), text, asLocked, marketplaces };
      const each = await fetchPackage(source, options);
      const taken = findTakenName(each, [...marketplaces, ...listMarketplaces(fetched)]);
      if (taken !== undefined) {
        await each.discard();
        throw new HarnessError("install_failed", taken);
      }
      fetched.push({ fetched: each, entry });
    } catch (error) {
      if (!(error instanceof HarnessError) || error.code === "aborted") {
        for (const { fetched: each } of fetched) await each.discard();
        throw error;
      }
      // Its failure is the outcome of the command.
      if (isOnly) throw error;
      failures++;
      io.err(`tau: ${getErrorMessage(error)}\n`);
    }
  }
  return { fetched, failures };
}

type NamedMarketplace = Pick<Marketplace, "name" | "source">;

const listMarketplaces = (entries: readonly FetchedEntry[]): NamedMarketplace[] =>
  entries.flatMap(({ fetched: { source, manifest } }) =>
    manifest?.marketplace ? [{ name: manifest.marketplace.name, source }] : [],
  );

/** Two marketplaces of one name would each decide what the plugins of the other are. A text says so. */
function findTakenName(
  { source, manifest }: FetchedPackage,
  marketplaces: readonly NamedMarketplace[],
): string | undefined {
  const name = manifest?.marketplace?.name;
  const other = marketplaces.find((each) => each.name === name && each.source.id !== source.id);
  if (!other) return undefined;
  return `There is a marketplace ${name} already, from ${other.source.id}. Remove it first: tau remove ${other.source.id}`;
}

/** Shows what the packages bring, asks once for all of them, and uses them from now on. */
export async function enableAll(
  entries: readonly FetchedEntry[],
  context: PackageContext,
  args: CommandArgs,
  io: Io,
): Promise<void> {
  if (entries.length === 0) return;
  try {
    for (const { fetched, entry } of entries) {
      io.err(describePackage(fetched, toDetailed(entry).source));
      io.err(await describeChanges(fetched));
    }
    const state = await askToEnable(
      entries.map(({ fetched }) => fetched),
      args,
      io,
    );
    for (const { fetched, entry } of entries) {
      const withEntry = (others: readonly PackageEntry[]) => replaceEntry(others, entry);
      await changePackages(context, withEntry, async (write) => {
        // First: what the settings do not have, nobody would find again if the program was killed now.
        await write();
        await fetched.enable();
      });
      const { source, extensionDigest: digest } = fetched;
      const stored = digest !== undefined && (await storeAnswer(context, { id: source.id, digest }, state));
      const version = fetched.locked ? ` ${fetched.locked.resolved.slice(0, 40)}` : "";
      const effect = stored ? ` (${stored})` : "";
      io.out(`Installed ${source.id}${version}${effect}.\n`);
      const { marketplace } = fetched.manifest ?? {};
      if (marketplace) io.out(`To install a plugin that it lists: tau install NAME@${marketplace.name}\n`);
    }
  } finally {
    for (const { fetched } of entries) await fetched.discard();
  }
}

/** Where it was, since of two packages that bring the same name the order decides. */
const replaceEntry = (entries: readonly PackageEntry[], entry: PackageEntry): readonly PackageEntry[] => {
  const index = entries.findIndex((other) => getEntryId(other) === getEntryId(entry));
  return index === -1 ? [...entries, entry] : entries.with(index, entry);
};
