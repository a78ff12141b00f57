import { systemIds } from "@tau/ai";
import { parseSource, removePackage, toDetailed } from "@tau/harness/packages";
import { forgetExtensionTrust } from "@tau/harness/policy";
import type { Io } from "../command.ts";
import { changePackages, findEntry, getId, openPackageContext } from "./package-context.ts";
import type { CommandArgs } from "./usage.ts";

/** Removes the files, the entry in the settings, the lock, and what the user said about its extensions. */
export async function remove(args: CommandArgs, io: Io): Promise<void> {
  const context = await openPackageContext(args, io);
  // All are looked up first, so that a misspelled one removes nothing.
  const entries = args.positionals.map((typed) => findEntry(context, typed, io));
  for (const entry of entries) {
    const source = parseSource(toDetailed(entry).source, "/");
    await changePackages(context, async (write) => {
      if (source.kind !== "invalid") await removePackage(source, context);
      // Last: what the settings do not have, nobody would find again if the program was killed now.
      await write((others) => others.filter((other) => getId(other) !== getId(entry)));
    });
    if (source.kind !== "invalid") {
      await forgetExtensionTrust(source.id, { agentDir: context.agentDir, ids: systemIds });
    }
    io.out(`Removed ${toDetailed(entry).source}.\n`);
  }
}
