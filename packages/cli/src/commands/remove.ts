import { systemIds } from "@tau/ai";
import {
  findMarketplaces,
  getEntryId,
  getEntrySource,
  getOwner,
  getPackageEntries,
  type Marketplace,
  type PackageEntry,
  removePackage,
  toDetailed,
} from "@tau/config/installs";
import { forgetExtensionTrust } from "@tau/config/trust";
import type { Io } from "./command.ts";
import { changePackages, findEntry, openPackageContext, type PackageContext } from "./package-context.ts";
import type { CommandArgs } from "./usage.ts";

/** Removes the files, the entry in the settings, the lock, and what the user said about its extensions. */
export async function remove(args: CommandArgs, io: Io): Promise<void> {
  const context = await openPackageContext(args, io);
  const { cwd, agentDir, scope } = context;
  // All are looked up first, so that a misspelled one removes nothing.
  const entries = args.positionals.map((typed) => findEntry(context, typed, io));
  const marketplaces = await findMarketplaces(context, scope);
  for (const entry of entries) {
    const source = getEntrySource(entry);
    const withoutEntry = (others: readonly PackageEntry[]) =>
      others.filter((other) => getEntryId(other) !== getEntryId(entry));
    await changePackages(context, withoutEntry, async (write) => {
      if (source) await removePackage(source, context);
      // Last: what the settings do not have, nobody would find again if the program was killed now.
      await write();
    });
    if (source)
      await forgetExtensionTrust({ id: source.id, project: getOwner(scope, cwd) }, { agentDir, ids: systemIds });
    io.out(`Removed ${toDetailed(entry).source}.\n`);
    const left = listPluginsOf(
      marketplaces.find((each) => each.source.id === source?.id),
      context,
    );
    if (left.length > 0) io.err(`Its plugins stay installed, and are not updated any more: ${left.join(", ")}\n`);
  }
}

/** The sources of the installed plugins that a marketplace lists. */
function listPluginsOf(marketplace: Marketplace | undefined, { settings, scope }: PackageContext): string[] {
  return getPackageEntries(settings)[scope].flatMap((entry) => {
    const source = getEntrySource(entry);
    return source?.kind === "plugin" && source.marketplace === marketplace?.name ? [toDetailed(entry).source] : [];
  });
}
