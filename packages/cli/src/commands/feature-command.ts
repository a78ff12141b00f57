import type { ProgramCommand } from "@tau/extensions";
import { ask, isInteractive } from "../process/ask.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { type Access, openAccess } from "./access.ts";
import type { Io } from "./command.ts";
import { openCommandContext } from "./command-context.ts";
import type { CommandArgs } from "./usage.ts";

/** Runs a command of the program that a feature brings. */
export async function runFeatureCommand({ run }: ProgramCommand, args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const { cwd, agentDir, settings } = await openCommandContext(io);
  let access: Access | undefined;
  const askPerson = async (question: string, options?: { hidden?: boolean }) => await ask(io, question, options);
  try {
    const outcome = await run({
      ...args,
      cwd,
      agentDir,
      settings,
      env: io.env,
      signal: io.signal,
      out: io.out,
      err: io.err,
      ask: isInteractive(io) ? askPerson : undefined,
      openAuth: async () => (access ??= await openAccess(io)).auth,
    });
    return outcome === "failed" ? exitCodes.failed : undefined;
  } finally {
    await access?.close();
    await settings.close();
  }
}
