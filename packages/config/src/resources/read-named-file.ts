/** Reads a file that the user named for a prompt, through the guard: a repository may have put a link in its place. */
import { homedir } from "node:os";
import { nodeFileSystem, ToolsError } from "@tau/tools/platform";
import { readWhole } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";
import { guardResources, type ResourceDirectories } from "./guard.ts";

/** `home` is the home directory if it is left out. Throws `HarnessError` `invalid_input` for a file that may not be read. */
export async function readNamedFile(
  path: string,
  directories: Omit<ResourceDirectories, "home"> & Partial<ResourceDirectories>,
): Promise<string> {
  const fs = await guardResources(nodeFileSystem, { home: homedir(), ...directories });
  try {
    const bytes = await readWhole(fs, path);
    if (bytes) return bytes.toString("utf8");
  } catch (error) {
    if (!(error instanceof ToolsError)) throw error;
    throw new HarnessError("invalid_input", `${path}: ${error.message}`, { cause: error });
  }
  throw new HarnessError("invalid_input", `There is no file ${path}.`);
}
