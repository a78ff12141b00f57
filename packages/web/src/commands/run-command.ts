/** Decides whether a text is a command of the page, and carries it out. */
import type { SlashCommandData } from "@tau/protocol";
import {
  describeUnknownCommand,
  findCommandHere,
  isSlashCommandName,
  parseTypedCommand,
  slashCommands,
} from "@tau/protocol/surface";
import { type CommandPort, pageCommands } from "./slash-commands.ts";
import { UnknownCommand } from "./unknown-command.ts";

/** Whether the page runs a command whatever the session has under this name. Pure. */
const isOfPageAlone = (name: string): boolean =>
  findCommandHere(pageCommands, name) !== undefined && !(isSlashCommandName(name) && slashCommands[name].yields);

/** Whether a typed name means a command, template or skill of the session, and not the page's own command. Pure. */
export function isOfSession(name: string, listed: readonly Pick<SlashCommandData, "name" | "source">[]): boolean {
  if (isOfPageAlone(name)) return false;
  const own = findCommandHere(pageCommands, name);
  return listed.some((other) => other.name === name && (own === undefined || other.source === "extension"));
}

interface TypedText {
  readonly text: string;
  readonly images: readonly unknown[];
}

/** Whether it was a command of the page. Otherwise the text is for the session. Throws `UnknownCommand`. */
export async function runCommand(page: CommandPort, { text, images }: TypedText): Promise<boolean> {
  const typed = parseTypedCommand(text);
  if (!typed) return false;
  const { name, argument } = typed;
  if (!isOfPageAlone(name)) {
    const { commands } = await page.session.call("get_commands");
    if (isOfSession(name, commands)) return false;
  }
  const own = findCommandHere(pageCommands, name);
  if (!own) throw new UnknownCommand(describeUnknownCommand(name, pageCommands));
  if (images.length > 0) throw new Error(`/${name} takes no images.`);
  await own.run(page, argument);
  return true;
}
