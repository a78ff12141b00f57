/** Runs npm and git. */
import { createSpawn } from "@tau/tools";
import { HarnessError } from "../errors.ts";
import { runToEnd } from "../run-to-end.ts";

export interface ProgramRequest {
  argv: readonly [string, ...string[]];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

export type ProgramOutcome =
  | { readonly kind: "done"; readonly output: string }
  /** `reason` is what the program wrote, or the end of it where that is long. */
  | { readonly kind: "failed"; readonly reason: string };

/** What stays behind, such as a connection that ssh keeps for later, may hold the output open. */
const maxPipeMs = 1_000;
/** Asked to end, npm first waits for what it downloads. The program that waits for it has three seconds to end itself. */
const killAfterMs = 1_000;
/** More than the usage that npm adds to some errors. */
const maxReasonCharacters = 10_000;

/**
 * Waits for the program. Its standard input is empty, so it cannot ask. Throws `HarnessError`: `aborted` when the signal
 * is aborted, which ends the program and what it started; `unavailable` if there is no such program.
 */
export async function runProgram({ argv, cwd, env, signal }: ProgramRequest): Promise<ProgramOutcome> {
  if (signal.aborted) throw new HarnessError("aborted", "Interrupted.");
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const child = await createSpawn()({ argv, cwd, env: Object.fromEntries(given), detached: true });
  const { stdout, stderr, status } = await runToEnd(child, { signal, maxPipeMs, killAfterMs, target: "group" });
  if (signal.aborted) throw new HarnessError("aborted", "Interrupted.");
  if (status.kind === "failed") {
    const message = status.code === "ENOENT" ? `There is no program ${argv[0]}. Install it first.` : status.message;
    throw new HarnessError("unavailable", message);
  }
  if (status.kind === "exited" && status.code === 0) return { kind: "done", output: stdout };
  const reason = (stderr.trim() || stdout).trim();
  return { kind: "failed", reason: reason.slice(-maxReasonCharacters) || `${argv[0]} failed` };
}
