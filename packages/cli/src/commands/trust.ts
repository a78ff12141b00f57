import { systemIds } from "@tau/ai";
import { describeIgnoredPiFiles, writeTrust } from "@tau/harness/policy";
import { getAgentDir } from "../agent-dir.ts";
import type { Io } from "../command.ts";
import type { CommandArgs } from "./usage.ts";

/** Stores the answer together with a digest of the project's files, and lists them. */
export async function trustProject(args: CommandArgs, io: Io): Promise<void> {
  const options = { agentDir: getAgentDir(io), cwd: io.cwd, ids: systemIds };
  const { path, files, trusted } = await writeTrust(options, !args.has("revoke"));
  if (!trusted) return io.out(`${path} is not trusted any more.\n`);
  io.out(`${path} is trusted until one of these files changes, is added or is removed:\n`);
  io.out(files.length === 0 ? "  (none yet)\n" : files.map((file) => `  ${JSON.stringify(file)}\n`).join(""));
  const ignored = await describeIgnoredPiFiles(io.cwd);
  if (ignored !== undefined) io.out(`${ignored}\n`);
}
