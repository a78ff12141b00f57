/** What `tau help COMMAND` and `tau COMMAND --help` say. */
import type { Command } from "../command.ts";
import { getForms } from "./forms.ts";

/** A command, one line a form. */
export function commandHelp(command: Command): string {
  const forms = getForms(command).flatMap(({ usage, summary }) => [
    `  ${usage}`,
    ...(summary ? [`      ${summary}`] : []),
  ]);
  return `${[`tau ${command.name}: ${command.summary}`, "", ...forms].join("\n")}\n`;
}
