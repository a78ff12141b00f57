import type { HarnessErrorCode } from "@tau/harness";

/** What the program's exit code says. Scripts rely on these; they never change. */
export const exitCodes = {
  /** The work is done. */
  done: 0,
  /** It was tried and failed. */
  failed: 1,
  /** The command line was not understood, or names what there is not. */
  usage: 2,
  /** Policy did not allow it. */
  denied: 3,
  /** A person or a signal stopped it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Errors of a person who typed something wrong: nothing was tried yet. */
const mistakes: ReadonlySet<unknown> = new Set([
  "invalid_input",
  "session_not_found",
  "unknown_entry",
  "unknown_model",
] satisfies HarnessErrorCode[]);

export function exitCodeOfError(error: unknown): ExitCode {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (code === ("aborted" satisfies HarnessErrorCode)) return exitCodes.interrupted;
  return mistakes.has(code) ? exitCodes.usage : exitCodes.failed;
}
