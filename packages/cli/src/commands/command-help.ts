/** What `tau help COMMAND` and `tau COMMAND --help` say. */
import type { Command } from "../command.ts";
import { formsOf } from "./forms.ts";

/** A command, one line a form. */
export function commandHelp(command: Command): string {
  const forms = formsOf(command).flatMap(({ usage, summary }) => [
    `  ${usage}`,
    ...(summary ? [`      ${summary}`] : []),
  ]);
  return `${[`tau ${command.name}: ${command.summary}`, "", ...forms].join("\n")}\n`;
}
