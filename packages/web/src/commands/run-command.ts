/** Decides whether a text is a command of the page, and carries it out. */
import type { SlashCommandData } from "@tau/protocol";
import { type CommandPort, type SlashCommand, slashCommands } from "./slash-commands.ts";
import { UnknownCommand } from "./unknown-command.ts";

export interface TypedCommand {
  readonly name: string;
  readonly argument: string;
}

/** A path such as `/etc/hosts` is no command, and neither is a skill, such as `/skill:name`. Pure. */
export function parseCommand(text: string): TypedCommand | undefined {
  const [, name, argument = ""] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name, argument: argument.trim() };
}

export const findCommand = (name: string): SlashCommand | undefined =>
  slashCommands.find((command) => command.name === name);

/** Whether a typed name means a command, template or skill of the session, and not the page's own command. Pure. */
export const isOfSession = (
  { name }: TypedCommand,
  own: SlashCommand | undefined,
  listed: readonly Pick<SlashCommandData, "name" | "source">[],
): boolean => listed.some((other) => other.name === name && (own === undefined || other.source === "extension"));

export interface TypedText {
  readonly text: string;
  readonly images: readonly unknown[];
}

/** Whether it was a command of the page. Otherwise the text is for the session. Throws `UnknownCommand`. */
export async function runCommand(page: CommandPort, { text, images }: TypedText): Promise<boolean> {
  const typed = parseCommand(text);
  if (!typed) return false;
  const own = findCommand(typed.name);
  if (!own || own.yields) {
    const { commands } = await page.session.call("get_commands");
    if (isOfSession(typed, own, commands)) return false;
  }
  if (!own) throw new UnknownCommand(typed.name, (name) => findCommand(name) !== undefined);
  if (images.length > 0) throw new Error(`/${own.name} takes no images.`);
  await own.run(page, typed.argument);
  return true;
}
