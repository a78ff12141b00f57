/** Servers that lspmux shares between editors and tau, where it is installed and its server runs. */
import { realpathSync } from "node:fs";
import { text as readText } from "node:stream/consumers";
import type { Clock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import { isWithin } from "@tau/tools/platform";
import { findProgram, type FindOptions } from "./find-server.ts";
import type { LspSpawn } from "./program.ts";

const maxStatusMs = 2_000;

interface MuxOptions {
  program: string;
  args: readonly string[];
  root: string;
  /** The directory of the session. */
  cwd: string;
  env: FindOptions["env"];
  spawn: LspSpawn;
  clock: Clock;
}

/**
 * The command that connects to a server through lspmux; undefined if that is off, not installed or not running, or if the server is a
 * program of the project: lspmux would start it outside of the sandbox, and the model may have changed it.
 */
export async function wrapWithMux(
  options: MuxOptions,
): Promise<{ command: string; args: readonly string[] } | undefined> {
  const { program, args, root, cwd, env, spawn, clock } = options;
  if (env["PI_DISABLE_LSPMUX"] === "1" || isOfProject(program, [cwd, root])) return undefined;
  // Only the user's own: it runs outside of the sandbox, where it reaches the server of the user.
  const mux = findProgram("lspmux", root, { cwd, isProjectTrusted: false, env });
  if (mux === undefined || isOfProject(mux, [cwd, root])) return undefined;
  const status = await spawn(mux, ["status", "--json"], { cwd: root, sandbox: false });
  status.stdin.end();
  const outcome = await untilTimeout(Promise.all([status.exit, readText(status.stdout)]), maxStatusMs, clock);
  if (outcome.kind !== "done") await status.end();
  const isRunning = outcome.kind === "done" && (outcome.value[0] as { code?: number }).code === 0;
  return isRunning ? { command: mux, args: ["client", "--server-path", program, "--", ...args] } : undefined;
}

/** A link that leads into the project counts too. */
const isOfProject = (program: string, directories: readonly string[]): boolean =>
  directories.some(
    (directory) => isWithin(directory, program) || isWithin(realpathSync(directory), realpathSync(program)),
  );
