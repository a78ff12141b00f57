/** Lists the files below a directory with ripgrep, which knows the ignore files. */
import { dirname, join } from "node:path";
import { lookAt, nodeFileSystem } from "@tau/tools/platform";
import type { LocateRipgrep, RunningProcess } from "@tau/tools";
import { orUndefined } from "@tau/tools/durable";
import type { PathList } from "./path-list.ts";

interface ListTreeOptions {
  directory: string;
  /** Where git's settings for all repositories are, which name an ignore file too. */
  home: string;
  /** Ends the listing; what is in the list stays. */
  signal: AbortSignal;
  /** Default: the binary from npm. */
  locate?: LocateRipgrep;
}

/** `unavailable`: there is no ripgrep for this system, or it cannot be started in this directory. */
export type TreeEnd = "done" | "unavailable";

const options = [
  "--files",
  "--null",
  "--no-config",
  "--no-messages",
  // A person means hidden files too, and what a link in the project leads to.
  "--hidden",
  "--follow",
  "--glob=!.git",
  "--path-separator=/",
];

/** Adds paths as ripgrep reports them. */
export async function listTree(list: PathList, { directory, home, signal, locate }: ListTreeOptions): Promise<TreeEnd> {
  const { createSpawn, locateRipgrep } = await import("@tau/tools");
  const program = await (locate ?? locateRipgrep)().catch(() => undefined);
  if (program === undefined) return "unavailable";
  const args = (await isInRepository(directory)) ? options : [...options, "--no-require-git"];
  if (signal.aborted) return "done";
  // Our process may end while it runs: then it ends too, because nobody reads its output.
  const request = { argv: [program, ...args] as const, cwd: directory, env: { HOME: home }, isAside: true };
  const child = await orUndefined(createSpawn()(request));
  if (!child) return "unavailable";
  const stop = () => end(child);
  signal.addEventListener("abort", stop, { once: true });
  child.stdout.on("data", (chunk: Buffer) => {
    if (!list.append(chunk)) stop();
  });
  child.stderr.resume();
  const outputEnded = new Promise<void>((resolve) => child.stdout.once("close", resolve));
  const [status] = await Promise.all([child.exit, outputEnded]);
  signal.removeEventListener("abort", stop);
  return status.kind === "failed" ? "unavailable" : "done";
}

function end(child: RunningProcess): void {
  child.signal("SIGKILL");
  child.stdout.destroy();
}

/** In a repository, ignore files above it do not apply; elsewhere `.gitignore` applies too. */
async function isInRepository(directory: string): Promise<boolean> {
  for (let path = directory; ; path = dirname(path)) {
    if (await orUndefined(lookAt(nodeFileSystem, join(path, ".git")))) return true;
    if (path === dirname(path)) return false;
  }
}
