/** The one table of commands. */
import { type CommandName, type CommandParams, HarnessError } from "@tau/protocol";
import { parseFields } from "@tau/config/fields";
import { bashCommands } from "./bash.ts";
import { jobCommands } from "./jobs.ts";
import type { CommandDefinitions, CommandOptions } from "./command.ts";
import { fileCommands } from "./files.ts";
import { modelCommands } from "./models.ts";
import { promptCommands } from "./prompts.ts";
import { sessionCommands } from "./sessions.ts";
import { settingsCommands } from "./settings.ts";
import { stateCommands } from "./state.ts";
import { undoCommands } from "./undo.ts";

export const commandTable: CommandDefinitions = {
  ...promptCommands,
  ...stateCommands,
  ...modelCommands,
  ...bashCommands,
  ...jobCommands,
  ...sessionCommands,
  ...fileCommands,
  ...settingsCommands,
  ...undoCommands,
};

/** Whether a surface takes further commands while this one is executed. */
export const isLongCommand = (name: CommandName): boolean => commandTable[name].isLong;

/** Throws `invalid_parameters` for parameters that the command does not take. */
export function parseParams<Name extends CommandName>(
  name: Name,
  params: unknown,
  { isClosed = false }: Pick<CommandOptions, "isClosed">,
): CommandParams<Name> {
  const parsed = parseFields(commandTable[name].fields, params, { isClosed });
  if (parsed.kind === "wrong") throw new HarnessError("invalid_parameters", parsed.message);
  return parsed.values as CommandParams<Name>;
}
