import { chmodSync, lstatSync } from "node:fs";
import { makeDirectory } from "@tau/tools/durable";
import { getGatewayFiles, type GatewayFiles } from "@tau/protocol/node";
import { nodeFileSystem } from "@tau/tools/platform";
import { GatewayError } from "../errors.ts";

/** Makes the directory of the gateway's files. Throws `wrong_owner` for one that others made, or a link to one. */
export async function openGatewayDirectory(agentDir: string): Promise<GatewayFiles> {
  const files = getGatewayFiles(agentDir);
  const { directory } = files;
  await makeDirectory(nodeFileSystem, directory);
  const stats = lstatSync(directory);
  const uid = process.getuid?.();
  const problem = stats.isSymbolicLink()
    ? "it is a link"
    : uid !== undefined && stats.uid !== uid
      ? `it belongs to another user (id ${stats.uid})`
      : undefined;
  if (problem !== undefined) {
    throw new GatewayError("wrong_owner", `${directory} is not used: ${problem}. Remove it, or set TAU_DIR.`);
  }
  if ((stats.mode & 0o077) !== 0) chmodSync(directory, 0o700);
  return files;
}
