/** The one table of commands. */
import type { CommandName } from "@tau/protocol";
import { bashCommands } from "./bash.ts";
import type { CommandDefinitions } from "./command.ts";
import { fileCommands } from "./files.ts";
import { modelCommands } from "./models.ts";
import { promptCommands } from "./prompts.ts";
import { sessionCommands } from "./sessions.ts";
import { settingsCommands } from "./settings.ts";
import { stateCommands } from "./state.ts";

export const commandTable: CommandDefinitions = {
  ...promptCommands,
  ...stateCommands,
  ...modelCommands,
  ...bashCommands,
  ...sessionCommands,
  ...fileCommands,
  ...settingsCommands,
};

/** Whether a surface takes further commands while this one is executed. */
export const isLongCommand = (name: CommandName): boolean => commandTable[name].isLong;
