import { systemIds } from "@tau/ai";
import { describeIgnoredPiFiles } from "@tau/config/resources";
import { writeTrust } from "@tau/config/trust";
import { SettingsManager } from "@tau/config/settings";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "./command.ts";
import type { CommandArgs } from "./usage.ts";

/** Stores the answer together with a digest of the project's files, and lists them. */
export async function trustProject(args: CommandArgs, io: Io): Promise<void> {
  const options = { agentDir: getAgentDir(io), cwd: io.cwd, ids: systemIds };
  const { path, files, trusted } = await writeTrust(options, !args.has("revoke"));
  const settings = await SettingsManager.create(options.cwd, options.agentDir, { watch: false });
  const { defaultProjectTrust } = settings.get();
  if (defaultProjectTrust !== "ask") {
    const effect = `${defaultProjectTrust === "always" ? "every" : "no"} project is trusted, whatever is stored`;
    io.err(`Your setting defaultProjectTrust is "${defaultProjectTrust}": ${effect}.\n`);
  }
  if (!trusted) return io.out(`The trust in ${path} is removed.\n`);
  io.out(`${path} is trusted until one of these files changes, is added or is removed:\n`);
  io.out(files.length === 0 ? "  (none yet)\n" : files.map((file) => `  ${JSON.stringify(file)}\n`).join(""));
  const ignored = await describeIgnoredPiFiles(io.cwd);
  if (ignored !== undefined) io.out(`${ignored}\n`);
}
