/** `tau --help`, with the options that extensions add. */
import type { Io } from "../commands/command.ts";
import { commands } from "../commands/index.ts";
import { helpText } from "./help.ts";
import { allExtensions, type ChosenExtensions, loadRegistrations } from "../hosting/load-registrations.ts";

/** Shows the help. Problems of extensions or settings are reported, and the help is shown all the same. */
export async function showHelp(io: Io, options: ChosenExtensions = allExtensions): Promise<void> {
  const extensions = await loadRegistrations(io, options);
  if (extensions.length === 0) return io.out(helpText(commands, []));
  const { listExtensionFlags } = await import("./extension-flags.ts");
  io.out(helpText(commands, listExtensionFlags(extensions)));
}
