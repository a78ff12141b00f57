/** `tau --help`, with the options that extensions add. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { getAgentDir } from "./agent-dir.ts";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import { commands } from "./commands/index.ts";
import type { Flag } from "./flags.ts";
import { helpText } from "./help.ts";
import { mayHaveExtensions } from "./may-have-extensions.ts";

type HelpOptions = Pick<SessionOptions, "extensions" | "noExtensions">;

const everything: HelpOptions = { extensions: [], noExtensions: false };

export async function showHelp(io: Io, options: HelpOptions = everything): Promise<void> {
  const { extensions, noExtensions } = options;
  const places = [getAgentDir(io), join(io.cwd, ".tau"), join(io.cwd, ".pi")];
  const hasSome = extensions.length > 0 || (!noExtensions && mayHaveExtensions(places));
  io.out(helpText(commands, hasSome ? await loadFlags(io, options) : []));
}

/** What is wrong with extensions or settings is said, and the help is shown all the same. Nothing is fetched. */
async function loadFlags(io: Io, { extensions: named, noExtensions }: HelpOptions): Promise<Flag[]> {
  const [{ listFlags }, { openSettings }, { lendModule }, { listExtensionFlags }] = await Promise.all([
    import("@tau/harness/extensions"),
    import("@tau/harness/policy"),
    import("./lend-module.ts"),
    import("./extension-flags.ts"),
  ]);
  const { cwd } = io;
  const agentDir = getAgentDir(io);
  const settings = await openSettings({ cwd, agentDir, watch: false });
  const paths = named.map((path) => resolve(cwd, path)).filter((path) => existsSync(path));
  const params = { paths, discovers: !noExtensions, loadShared: lendModule };
  const { extensions, problems } = await listFlags(params, { cwd, agentDir, settings });
  await settings.close();
  for (const { extension, message } of problems) io.err(`tau: ${extension}: ${message}\n`);
  return listExtensionFlags(extensions);
}
