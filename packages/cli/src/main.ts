import type { Command, Io } from "./command.ts";
import { commands } from "./commands/index.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { helpText } from "./help.ts";
import { version } from "./version.ts";

/** Runs tau with the arguments a person typed, and says how it ended. Never throws. */
export async function main(args: readonly string[], io: Io): Promise<ExitCode> {
  const [first, ...rest] = args;
  if (first === "--version" || first === "-v") {
    io.out(`${version}\n`);
    return exitCodes.done;
  }
  if (first === undefined || first === "--help" || first === "-h" || first === "help") {
    io.out(helpText(commands));
    return exitCodes.done;
  }
  const command = commands.find(({ name }) => name === first);
  return command ? await runCommand(command, rest, io) : await unknownCommand(first, io);
}

/** The wall around commands: a bug in one is a sentence for the person, not a stack trace. */
async function runCommand(command: Command, args: readonly string[], io: Io): Promise<ExitCode> {
  try {
    const run = await command.load();
    return await run(args, io);
  } catch (error) {
    if (io.signal.aborted) return exitCodes.interrupted;
    io.err(`tau ${command.name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitCodes.failed;
  }
}

async function unknownCommand(name: string, io: Io): Promise<ExitCode> {
  const { nearestNames } = await import("@tau/ai");
  const what = name.startsWith("-") ? "option" : "command";
  const known = what === "option" ? ["--help", "--version"] : commands.map((command) => command.name);
  const [suggestion] = nearestNames(name, known);
  io.err(`tau: there is no ${what} ${name}.${suggestion ? ` Did you mean ${suggestion}?` : ""} See tau --help.\n`);
  return exitCodes.usage;
}
