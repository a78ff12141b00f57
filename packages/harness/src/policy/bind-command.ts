/**
 * What an approval of a command is bound to: the commands that would run, the directory in which, and the contents of
 * scripts that they name. If one of these is different when the command is run, the approval does not count for it.
 */
import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import type { Files } from "@tau/tools";

export interface BoundCommand {
  command: string;
  /** The commands that were found in it, each as its argv. */
  commands: readonly (readonly string[])[];
  cwd: string;
}

/** Programs whose first argument without a dash is a script. */
const interpreters =
  /^(?:\.|source|(?:ba|da|z|k|a)?sh|fish|python[\d.]*|node|deno|bun|perl|ruby|php|lua|tclsh|osascript|Rscript|tsx|ts-node)$/;

const maxScriptBytes = 4 * 1024 * 1024;

/** A hash of all of it. A script that cannot be read counts as missing. */
export async function bindCommand(
  { command, commands, cwd }: BoundCommand,
  files: Pick<Files, "realPath" | "readWhole">,
): Promise<string> {
  const realCwd = await files.realPath(cwd);
  const scripts = [...new Set(commands.flatMap((argv) => findScript(argv)))].map((path) => resolve(realCwd, path));
  const contents = await Promise.all(scripts.map(async (path) => [path, await hashFile(path, files)] as const));
  return createHash("sha256")
    .update(JSON.stringify([command, commands, realCwd, contents]))
    .digest("hex");
}

/** The script that a command runs, if it names one. Pure. */
export function findScript([program = "", ...args]: readonly string[]): string[] {
  const script = interpreters.test(basename(program)) ? args.find((arg) => !arg.startsWith("-")) : undefined;
  return [...(program.includes("/") ? [program] : []), ...(script === undefined ? [] : [script])];
}

async function hashFile(path: string, files: Pick<Files, "readWhole">): Promise<string | undefined> {
  try {
    const { bytes } = await files.readWhole(path, maxScriptBytes);
    return createHash("sha256").update(bytes).digest("hex");
  } catch {
    // Missing, a directory, too large or not allowed: what matters is that it stays so.
    return undefined;
  }
}
