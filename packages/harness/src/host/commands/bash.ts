/** Commands that the user runs with their own authority. */
import { flag, nonEmptyText, optional } from "@tau/config/fields";
import { command, type SomeCommands, longCommand } from "./command.ts";

export const bashCommands = {
  bash: longCommand(
    { command: nonEmptyText, excludeFromContext: optional(flag) },
    async ({ session, options: { onOutput } }, { command: text, excludeFromContext = false }) => {
      const { exitCode, ...result } = await session.executeBash(text, {
        excludeFromContext,
        ...(onOutput && { onOutput }),
      });
      return { ...result, ...(exitCode !== undefined && { exitCode }) };
    },
  ),
  abort_bash: command({}, ({ session }) => session.abortBash()),
} satisfies SomeCommands;
