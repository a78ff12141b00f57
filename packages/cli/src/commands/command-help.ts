import type { Command } from "./command.ts";
import { parseUsages } from "./usage.ts";

/** The text of `tau help COMMAND` and `tau COMMAND --help`. */
export function commandHelp(command: Command): string {
  const lines = parseUsages(command).flatMap(({ line, summary }) => [`  ${line}`, `      ${summary}`]);
  return `${[`tau ${command.name}: ${command.summary}`, "", ...lines].join("\n")}\n`;
}
