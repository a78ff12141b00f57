/** A word after a slash that is neither a command nor a template or skill of the session. */
import {
  describeUnknownCommand,
  findOtherCommand,
  isRootDirectory,
  type SlashCommandName,
} from "@tau/protocol/surface";
import type { Interface } from "../interface.ts";
import { terminalCommands } from "../slash-commands.ts";

type UnknownAnswer =
  | { kind: "send" }
  | { kind: "run"; name: SlashCommandName }
  /** The word goes back to the editor. */
  | { kind: "edit" };

/** Asks what the user meant. A word that the session knows is sent. */
export async function askUnknown(ui: Interface, name: string): Promise<UnknownAnswer> {
  if (isRootDirectory(name)) return { kind: "send" };
  const { commands } = await ui.client.execute({ type: "get_commands" });
  if (commands.some((command) => command.name === name)) return { kind: "send" };
  const instead = findOtherCommand(name)?.use;
  const answer = await ui.choose(describeUnknownCommand(name, terminalCommands), [
    ...(instead !== undefined ? [{ value: "run", label: `Use /${instead}` }] : []),
    { value: "edit", label: "Change what I wrote" },
    { value: "send", label: "Send as a message", description: `the model reads "/${name}"` },
  ]);
  if (answer === "run" && instead !== undefined) return { kind: "run", name: instead };
  return { kind: answer === "send" ? "send" : "edit" };
}
