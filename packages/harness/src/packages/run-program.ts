/** Runs npm and git. */
import { createSpawn } from "@tau/tools";
import { HarnessError } from "../errors.ts";

export interface ProgramRequest {
  argv: readonly [string, ...string[]];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

export type ProgramOutcome =
  | { readonly kind: "done"; readonly output: string }
  /** `reason` are the last lines of what the program wrote. */
  | { readonly kind: "failed"; readonly reason: string };

const maxOutputBytes = 4 * 1024 * 1024;
const maxReasonCharacters = 2_000;

/**
 * Waits for the program. Its standard input is empty, so it cannot ask. Throws `HarnessError`: `aborted` when the signal
 * is aborted, which ends the program and what it started; `unavailable` if there is no such program.
 */
export async function runProgram({ argv, cwd, env, signal }: ProgramRequest): Promise<ProgramOutcome> {
  if (signal.aborted) throw new HarnessError("aborted", "Interrupted.");
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const child = await createSpawn()({ argv, cwd, env: Object.fromEntries(given), detached: true });
  const stop = () => child.signal("SIGTERM", "group");
  signal.addEventListener("abort", stop, { once: true });
  const [output, errors, status] = await Promise.all([collect(child.stdout), collect(child.stderr), child.exit]);
  signal.removeEventListener("abort", stop);
  if (signal.aborted) throw new HarnessError("aborted", "Interrupted.");
  if (status.kind === "failed") {
    const message = status.code === "ENOENT" ? `There is no program ${argv[0]}. Install it first.` : status.message;
    throw new HarnessError("unavailable", message);
  }
  if (status.kind === "exited" && status.code === 0) return { kind: "done", output };
  const reason = `${errors}\n${errors.trim() === "" ? output : ""}`.trim();
  return { kind: "failed", reason: reason.slice(-maxReasonCharacters) || `${argv[0]} failed` };
}

/** The beginning of what a program writes. All of it is read, so that the program can go on. */
async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    if (bytes < maxOutputBytes) chunks.push(chunk);
    bytes += chunk.length;
  }
  return Buffer.concat(chunks).toString("utf8");
}
