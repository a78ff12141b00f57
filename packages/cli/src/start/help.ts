import type { Command } from "../commands/command.ts";
import { type Flag, flagGroups } from "./flags.ts";
import { extraTopics, pages } from "../commands/pages.ts";

/** The text of `tau --help`. It is made from the tables of commands and flags. */
export function helpText(commands: readonly Command[], extensionFlags: readonly Flag[] = []): string {
  return [
    "tau, a coding agent for the terminal, for scripts and for other programs",
    "",
    "Usage: tau [options] [@file ...] [message ...]",
    "       tau <command> [arguments]",
    "",
    "Commands (tau help COMMAND explains one):",
    ...formatRows(commands.map(({ name, summary }) => [name, summary])),
    ...[...flagGroups, { title: "Options of extensions", flags: extensionFlags }]
      .filter(({ flags }) => flags.length > 0)
      .flatMap(({ title, flags }) => ["", `${title}:`, ...formatFlags(flags)]),
    "",
    "Topics (tau help TOPIC shows one):",
    ...wrapNames([...extraTopics, ...pages.map(({ name }) => name)]),
    "",
    "Standard input becomes part of the prompt: git diff | tau -p 'Review this.'",
    "Exit codes: 0 done, 1 failed, 2 usage, 3 denied by policy, 130 interrupted",
    "",
  ].join("\n");
}

export const formatFlags = (flags: readonly Flag[]): string[] =>
  formatRows(flags.map((flag) => [`${flag.short === undefined ? "      " : "  "}${formatFlag(flag)}`, flag.summary]));

/** Two aligned columns. */
export function formatRows(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`.trimEnd());
}

const maxListWidth = 96;

/** Names with commas between them, in as many lines as they need. */
function wrapNames(names: readonly string[]): string[] {
  const lines = [""];
  for (const name of names) {
    const last = lines.at(-1)!;
    if (last.length + name.length > maxListWidth) lines.push(name);
    else lines[lines.length - 1] = last === "" ? name : `${last}, ${name}`;
  }
  return lines.map((line, index) => `  ${line}${index < lines.length - 1 ? "," : ""}`);
}

export function formatFlag({ name, short, value, optional }: Flag): string {
  const long =
    value === undefined
      ? `--${name}`
      : optional === "inline"
        ? `--${name}[=${value}]`
        : optional
          ? `--${name} [${value}]`
          : `--${name} ${value}`;
  return short === undefined ? long : `-${short}, ${long}`;
}
