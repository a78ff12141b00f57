/** Runs npm and git. */
import { createSpawn } from "@tau/tools";
import { HarnessError } from "@tau/protocol";
import { maxOutputMb, runToEnd } from "@tau/tools/platform";

interface ProgramRequest {
  argv: readonly [string, ...string[]];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  /** A file that it writes cannot be larger: the system ends a program that tries. Default: as large as the disk. */
  maxFileBytes?: number | undefined;
}

export type ProgramOutcome =
  | { readonly kind: "done"; readonly output: string }
  /** `reason` is what the program wrote, or the end of it where that is long. */
  | { readonly kind: "failed"; readonly reason: string };

/** A process that stays behind, such as a connection that ssh keeps for later, may hold the output open. */
const maxPipeMs = 1_000;
/** Asked to end, npm first waits for what it downloads. The program that waits for it has three seconds to end itself. */
const killAfterMs = 1_000;
/** More than the usage that npm adds to some errors. */
const maxReasonCharacters = 10_000;

/**
 * Runs the program in its place, and ends it with all that it has started when our end of the pipe is closed before it has
 * ended: we were killed. npm would continue writing into a directory that the next command removes.
 */
const getScript = (maxFileBytes: number | undefined): string => `${
  // In blocks of 512 bytes.
  maxFileBytes === undefined ? "" : `ulimit -f ${Math.ceil(maxFileBytes / 512)}\n`
}exec 3<&0 </dev/null
{ while read -r line <&3; do :; done; kill -0 $$ && kill -KILL 0; } >/dev/null 2>&1 &
exec "$@" 3<&-`;
/** The exit code of a shell that has not found the program. */
const notFoundCode = 127;

/**
 * Waits for the program. Its standard input is empty, so it cannot ask. Throws `HarnessError`: `aborted` when the signal
 * is aborted, which ends the program and what it started; `unavailable` if there is no such program.
 */
export async function runProgram({ argv, cwd, env, signal, maxFileBytes }: ProgramRequest): Promise<ProgramOutcome> {
  if (signal.aborted) throw new HarnessError("aborted", "Interrupted.");
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const child = await createSpawn()({
    argv: ["/bin/sh", "-c", getScript(maxFileBytes), "sh", ...argv],
    cwd,
    env: Object.fromEntries(given),
    stdin: "pipe",
    detached: true,
  });
  const { stdout, stderr, status, isTooMuch } = await runToEnd(child, {
    signal,
    maxPipeMs,
    killAfterMs,
    target: "group",
  });
  if (signal.aborted) throw new HarnessError("aborted", "Interrupted.");
  if (status.kind === "failed") throw new HarnessError("unavailable", status.message);
  if (status.kind === "exited" && status.code === 0) return { kind: "done", output: stdout };
  if (status.kind === "exited" && status.code === notFoundCode) {
    throw new HarnessError("unavailable", `There is no program ${argv[0]}. Install it first.`);
  }
  if (isTooMuch) return { kind: "failed", reason: `${argv[0]} printed more than ${maxOutputMb} MB` };
  const reason = (stderr.trim() || stdout).trim();
  return { kind: "failed", reason: reason.slice(-maxReasonCharacters) || `${argv[0]} failed` };
}
