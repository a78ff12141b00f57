import { type FetchedPackage, findMarketplaces, getEntrySource, isPinned, toDetailed } from "@tau/config/installs";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { mustBeAnswerable } from "./enable-packages.ts";
import { enableAll, fetchAll, type FetchedEntry, listInstalled, type WantedPackage } from "./install.ts";
import { findEntry, isOwnEntry, listOwnEntries, openPackageContext, type PackageContext } from "./package-context.ts";
import type { CommandArgs } from "./usage.ts";

/** Names of the program itself, in the place of a package. */
const ownNames: ReadonlySet<string> = new Set(["self", "pi", "tau"]);

/** Fetches the newest versions that the settings allow, and uses them once the user agrees. */
export async function update(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const isAll = args.has("all");
  const names = [...args.positionals, ...args.values("extension")];
  const sources = names.filter((name) => !ownNames.has(name));
  const isSelf = args.has("self") || sources.length < names.length || isAll;
  if (args.has("models") || isAll) {
    const code = await (await import("./models-update.ts")).updateModels(args, io);
    if (!isAll || code !== undefined) return code;
  }
  const isPackages = !isSelf || isAll || sources.length > 0 || args.has("extensions");
  const code = isPackages ? await updatePackages(sources, args, io) : undefined;
  if (!isSelf || code !== undefined) return code;
  return await (await import("./update-self.ts")).updateSelf(io);
}

async function updatePackages(positionals: readonly string[], args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const context = await openPackageContext(args, io);
  const entries =
    positionals.length > 0 ? positionals.map((typed) => findEntry(context, typed, io)) : listOwnEntries(context);
  for (const entry of entries.filter((each) => !isOwnEntry(each, context))) {
    io.err(`This project only filters ${toDetailed(entry).source}, which is one of your own: tau update updates it.\n`);
  }
  const own = entries.filter((entry) => isOwnEntry(entry, context));
  const wanted = own.flatMap((entry): WantedPackage[] => {
    const source = getEntrySource(entry);
    return source && source.kind !== "local" ? [{ source, entry, asLocked: false }] : [];
  });
  const pinned = wanted.filter(({ source }) => isPinned(source));
  if (positionals.length > 0) {
    for (const { entry } of pinned) io.err(`${toDetailed(entry).source} names one version, so it stays.\n`);
  }
  const open = wanted.filter(({ source }) => !isPinned(source));
  if (open.length === 0) return io.err("There is nothing to update.\n");
  mustBeAnswerable(args, io);
  // First: they decide what their plugins are.
  const marketplaces = new Set((await findMarketplaces(context, context.scope)).map(({ source }) => source.id));
  const [first, others] = [true, false].map((isFirst) =>
    open.filter(({ source }) => marketplaces.has(source.id) === isFirst),
  ) as [WantedPackage[], WantedPackage[]];
  const isOnly = open.length === 1;
  const outcomes = [
    await updateAll(first, context, args, io, isOnly),
    await updateAll(others, context, args, io, isOnly),
  ];
  if (outcomes.some(({ failures }) => failures > 0)) return exitCodes.failed;
  if (outcomes.every(({ changes }) => changes === 0)) io.err("All packages are up to date.\n");
}

/** Fetches what is new, shows it, and uses it once the user agrees. */
async function updateAll(
  wanted: readonly WantedPackage[],
  context: PackageContext,
  args: CommandArgs,
  io: Io,
  isOnly: boolean,
): Promise<{ changes: number; failures: number }> {
  const { fetched, failures } = await fetchAll(wanted, context, args, io, isOnly);
  const installed = await listInstalled(context);
  const changed: FetchedEntry[] = [];
  for (const each of fetched) {
    if (isSame(each.fetched) && installed.has(each.fetched.source.id)) await each.fetched.discard();
    else changed.push(each);
  }
  await enableAll(changed, context, args, io);
  return { changes: changed.length, failures };
}

/** The commit of a plugin changes with everything that is beside it in its repository. */
const isSame = ({ source, locked, previous }: FetchedPackage): boolean =>
  previous?.digest === locked?.digest && (source.kind === "plugin" || previous?.resolved === locked?.resolved);
