/** `tau acp`: the flags are those of a session, for every session that the editor opens. */
import { UsageError } from "../process/errors.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import { parseSessionArgs } from "../start/args.ts";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "./command.ts";
import type { CommandArgs } from "./usage.ts";

const sessionFlags = ["model", "thinking", "agent", "policy", "permission-mode", "sandbox", "no-extensions", "offline"];

export async function serveEditor(args: CommandArgs, io: Io): Promise<ExitCode> {
  const options = parseServeOptions(args);
  io.claimOutput?.();
  return await (await import("../acp/acp.ts")).runAcp(options, io);
}

/** The flags of a program that serves sessions on its standard streams. */
export function parseServeOptions(args: CommandArgs): SessionOptions {
  const flags = sessionFlags.filter(args.has).flatMap((name) => [`--${name}`, ...[args.value(name) ?? []].flat()]);
  const parsed = parseSessionArgs(flags);
  if (parsed.kind !== "session")
    throw new UsageError("arguments", parsed.kind === "invalid" ? `${parsed.message}.` : "");
  return parsed.options;
}
