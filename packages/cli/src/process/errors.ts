import type { HarnessErrorCode } from "@tau/protocol";
import type { Io } from "../commands/command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** Says what is wrong with the use of the program. */
type UsageErrorCode =
  /** The words and options do not fit the command. The message is followed by where to read more. */
  | "arguments"
  /** An argument, or standard input, names or has something that cannot be used. */
  | "invalid_input"
  /** Nothing, or more than one thing, is what the user looked for. */
  | "not_found"
  /** The user answered a question with no, or with something that is not an answer. */
  | "declined";

/** Thrown when the program is used in a way that it cannot work. The message is one or more sentences. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code: UsageErrorCode;

  constructor(code: UsageErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Whether the command line could not even be parsed, which its help explains better than a stack. */
const isUnparsed = (error: unknown): boolean => error instanceof UsageError && error.code === "arguments";

/** For a session that cannot be stored. */
export const logAdvice = "To store sessions elsewhere, use --session-dir DIR; to store none, --no-session.";

/** Returns what else to say about an error of the program, which has the name of a command or runs a session. */
export function getAdvice(error: unknown, command: string | undefined): string {
  if (isUnparsed(error)) return ` See tau ${command === undefined ? "--help" : `help ${command}`}.`;
  const isLog = (error as { code?: unknown } | undefined)?.code === ("write_failed" satisfies HarnessErrorCode);
  return isLog && command === undefined ? ` ${logAdvice}` : "";
}

/** Returns what to say after the message: with `--verbose` or `TAU_DEBUG` the stack, otherwise how to get that of a bug. */
export async function getDetails(error: unknown, args: readonly string[], { env }: Pick<Io, "env">): Promise<string> {
  if (isUnparsed(error)) return "";
  if (wantsStack(args, { env })) return `${(await import("./stack.ts")).formatStack(error)}\n`;
  const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return isBug ? "This looks like a bug in tau. TAU_DEBUG=1 shows where it happened.\n" : "";
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

/** Codes that mean a wrong command line: the user named something that does not exist, and nothing was tried. */
const usageCodes: ReadonlySet<unknown> = new Set([
  "arguments",
  "invalid_input",
  "session_not_found",
  "unknown_entry",
  "unknown_model",
] satisfies (HarnessErrorCode | UsageErrorCode)[]);

export function getErrorExitCode(error: unknown): ExitCode {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (code === ("aborted" satisfies HarnessErrorCode)) return exitCodes.interrupted;
  return usageCodes.has(code) ? exitCodes.usage : exitCodes.failed;
}
