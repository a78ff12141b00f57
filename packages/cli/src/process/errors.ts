import type { HarnessErrorCode } from "@tau/protocol";
import type { Io } from "../commands/command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** The command line is wrong. The message is one or more sentences; `main` adds where to read more. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** For a session that cannot be stored. */
export const logAdvice = "To store sessions elsewhere, use --session-dir DIR; to store none, --no-session.";

/** What else to say about an error of the program, which has the name of a command or runs a session. */
export function getAdvice(error: unknown, command: string | undefined): string {
  if (error instanceof UsageError) return ` See tau ${command === undefined ? "--help" : `help ${command}`}.`;
  const isLog = (error as { code?: unknown } | undefined)?.code === ("write_failed" satisfies HarnessErrorCode);
  return isLog && command === undefined ? ` ${logAdvice}` : "";
}

/** What to say after the message: with `--verbose` or `TAU_DEBUG` the stack, otherwise how to get that of a bug. */
export async function getDetails(error: unknown, args: readonly string[], { env }: Pick<Io, "env">): Promise<string> {
  if (error instanceof UsageError) return "";
  if (wantsStack(args, { env })) return `${(await import("./stack.ts")).formatStack(error)}\n`;
  const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return isBug ? "This looks like a mistake in tau. TAU_DEBUG=1 shows where it happened.\n" : "";
}

const wantsStack = (args: readonly string[], { env }: Pick<Io, "env">): boolean =>
  args.includes("--verbose") || Boolean(env["TAU_DEBUG"]);

/** Reports an error that nothing has caught. The first line is written at once: files of the program may be missing. */
export async function reportCrash(error: unknown, args: readonly string[], io: Io): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  io.err(`tau: an unexpected error: ${message}\n`);
  const { describeErrorOrigin } = await import("@tau/extensions");
  const origin = describeErrorOrigin(error);
  if (origin !== undefined) io.err(`${origin}. To start without extensions: tau -ne\n`);
  if (origin === undefined || wantsStack(args, io)) io.err(await getDetails(error, args, io));
}

/** Errors of the harness that mean the same: the user named something that does not exist, and nothing was tried. */
const usageCodes: ReadonlySet<unknown> = new Set([
  "invalid_input",
  "session_not_found",
  "unknown_entry",
  "unknown_model",
] satisfies HarnessErrorCode[]);

export function getErrorExitCode(error: unknown): ExitCode {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (code === ("aborted" satisfies HarnessErrorCode)) return exitCodes.interrupted;
  return error instanceof UsageError || usageCodes.has(code) ? exitCodes.usage : exitCodes.failed;
}
