/** Commands that the user runs with their own authority. */
import { flag, nonEmptyText, optional } from "@tau/config/fields";
import { command, type SomeCommands, longCommand } from "./command.ts";

export const bashCommands = {
  bash: longCommand(
    { command: nonEmptyText, excludeFromContext: optional(flag) },
    async ({ session, options: { onOutput } }, { command: text, excludeFromContext = false }) => {
      let printed = "";
      const { exitCode, output, ...result } = await session.executeBash(text, {
        excludeFromContext,
        onOutput(delta) {
          printed = `${printed}${delta}`.slice(-maxCompared);
          onOutput?.(delta);
        },
      });
      return { ...result, output: withLastBreak(output, printed), ...(exitCode !== undefined && { exitCode }) };
    },
  ),
  abort_bash: command({}, ({ session }) => session.abortBash()),
} satisfies SomeCommands;

/** Characters at the end of the output that are enough to find it in what was printed. */
const maxCompared = 4_000;

/** Adds the line break that ended the output: the log and the model do without it, and scripts do not. Pure. */
function withLastBreak(output: string, printed: string): string {
  const end = output.slice(-maxCompared / 2);
  const position = output === "" ? 0 : printed.lastIndexOf(end) + end.length;
  return (output === "" || printed.includes(end)) && printed[position] === "\n" ? `${output}\n` : output;
}
