/** Commands of extensions: `/name` in a prompt. */
import type { CommandDefinition } from "../api.ts";
import type { Extension } from "../extension.ts";

export interface ExtensionCommand {
  /** What is typed after the slash. Several extensions may have a command of one name: then `name:1`, `name:2`. */
  readonly invocation: string;
  readonly definition: CommandDefinition;
  readonly extension: Extension;
}

/** All commands, in the order in which they were registered. Pure. */
export function listCommands(extensions: readonly Extension[]): ExtensionCommand[] {
  const all = extensions.flatMap((extension) =>
    [...extension.commands].map(([name, definition]) => ({ name, definition, extension })),
  );
  const counts = new Map<string, number>();
  for (const { name } of all) counts.set(name, (counts.get(name) ?? 0) + 1);
  const seen = new Map<string, number>();
  return all.map(({ name, definition, extension }) => {
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    return { invocation: counts.get(name) === 1 ? name : `${name}:${number}`, definition, extension };
  });
}

/** The command that a prompt begins with, and its arguments. Undefined for any other text. Pure. */
export function findCommand(
  text: string,
  commands: readonly ExtensionCommand[],
): { command: ExtensionCommand; args: string } | undefined {
  const match = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  const command = match && commands.find(({ invocation }) => invocation === match[1]);
  return command ? { command, args: match[2] ?? "" } : undefined;
}
