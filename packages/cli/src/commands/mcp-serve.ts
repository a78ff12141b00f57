/** `tau mcp serve`: the flags are those of a session, for every session that the client begins. */
import type { ExitCode } from "../process/exit-codes.ts";
import { parseServeOptions } from "./acp.ts";
import type { Io } from "./command.ts";
import type { CommandArgs } from "./usage.ts";

export async function serveMcp(args: CommandArgs, io: Io): Promise<ExitCode> {
  const options = parseServeOptions(args);
  io.claimOutput?.();
  return await (await import("../mcp-serve/mcp-serve.ts")).serveSessions(options, io);
}
