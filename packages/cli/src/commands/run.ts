/** From a command's arguments to the one of its forms that was meant. */
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { commandHelp } from "./command-help.ts";
import { getForms, type Given, parseForms } from "./forms.ts";
import { commands } from "./index.ts";

export type RunForm = (given: Given, io: Io) => Promise<ExitCode>;

/** Mistakes are answered with the nearest that there is, and with where to read more. */
export async function runForms(
  name: string,
  run: Readonly<Record<string, RunForm>> | RunForm,
  { args, io }: { args: readonly string[]; io: Io },
): Promise<ExitCode> {
  const command = commands.find((one) => one.name === name)!;
  const parsed = parseForms(getForms(command), args);
  switch (parsed.kind) {
    case "help":
      io.out(commandHelp(command));
      return exitCodes.done;
    case "mistake":
      return await mistaken(name, parsed, io);
    case "given":
      return await (typeof run === "function" ? run : run[parsed.given.word]!)(parsed.given, io);
  }
}

async function mistaken(
  name: string,
  { message, wanted, known = [] }: { message: string; wanted?: string; known?: readonly string[] },
  io: Io,
): Promise<ExitCode> {
  const { nearestNames } = await import("@tau/ai");
  const [nearest] = wanted === undefined ? [] : nearestNames(wanted, known);
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return usageMistake(name, `${message}.${hint}`, io);
}

/** A mistake of the person's that shows only when the form is known. */
export function usageMistake(name: string, message: string, io: Io): ExitCode {
  io.err(`tau ${name}: ${message} See tau help ${name}.\n`);
  return exitCodes.usage;
}
