import type { Command } from "./command.ts";
import { type Flag, flagGroups } from "./flags.ts";

/** The text of `tau --help`: everything in it comes from the tables. */
export function helpText(commands: readonly Command[]): string {
  return [
    "tau, a coding agent for the terminal, for scripts and for other programs",
    "",
    "Usage: tau [options] [@file ...] [message ...]",
    "       tau <command> [arguments]",
    "",
    "Commands (tau help COMMAND says more):",
    ...table(commands.map(({ name, summary }) => [name, summary])),
    ...flagGroups.flatMap(({ title, flags }) => [
      "",
      `${title}:`,
      ...table(flags.map((flag) => [flagName(flag), flag.summary])),
    ]),
    "",
    "Standard input becomes part of the prompt: git diff | tau -p 'Review this.'",
    "Exit codes: 0 done, 1 failed, 2 usage, 3 denied by policy, 130 interrupted",
    "",
  ].join("\n");
}

function table(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`);
}

export function flagName({ name, short, value, optional }: Flag): string {
  const long = value === undefined ? `--${name}` : optional ? `--${name} [${value}]` : `--${name} ${value}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}
