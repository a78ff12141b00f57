/** The manual page, for `man tau`. It is made from the tables that the help is made from. Pure. */
import type { Command } from "../commands/command.ts";
import { extraTopics, pages } from "../commands/pages.ts";
import { parseUsages } from "../commands/usage.ts";
import { exitCodeRows } from "../process/exit-codes.ts";
import { flagGroups } from "./flags.ts";
import { formatFlag } from "./help.ts";

/** Returns source of roff, with the macros of `man`. */
export function manualPage(commands: readonly Command[], version: string): string {
  return [
    `.TH TAU 1 "" "tau ${toRoff(version)}" "User Commands"`,
    ".SH NAME",
    "tau \\- a coding agent for the terminal, for scripts and for other programs",
    ".SH SYNOPSIS",
    ".B tau",
    "[options] [@file ...] [message ...]",
    ".br",
    ".B tau",
    "<command> [arguments]",
    ".SH DESCRIPTION",
    text("Without -p, tau opens an interactive session in the terminal; with it, only the answer is printed."),
    text("Standard input becomes part of the prompt: git diff | tau -p 'Review this.'"),
    ".SH COMMANDS",
    ...commands.flatMap((command) => [
      `.SS ${argument(`tau ${command.name}`)}`,
      text(command.summary),
      ...parseUsages(command).flatMap(({ line, summary }) => definition(line, summary)),
    ]),
    ".SH OPTIONS",
    ...flagGroups.flatMap(({ title, flags }) => [
      `.SS ${argument(title)}`,
      ...flags.flatMap((flag) => definition(formatFlag(flag), flag.summary)),
    ]),
    ".SH EXIT STATUS",
    ...exitCodeRows.flatMap(([codes, meaning]) => definition(codes, meaning)),
    ".SH FILES",
    ...definition("~/.tau", "Settings, keys and sessions; TAU_DIR names another directory."),
    ...definition(".tau", "Settings and resources of a project, which apply after tau trust."),
    ".SH TOPICS",
    text("These are shown by tau help TOPIC, beside the commands."),
    ...pages.flatMap(({ name, summary }) => definition(name, summary)),
    text(extraTopics.join(", ")),
    "",
  ].join("\n");
}

const definition = (term: string, meaning: string): string[] => [".TP", `.B ${argument(term)}`, text(meaning)];

/** Characters that roff would read as escapes, or draw as typographic ones. */
const escapes: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  "`": "\\(ga",
  "'": "\\(aq",
  "~": "\\(ti",
  "^": "\\(ha",
};

const toRoff = (plain: string): string => plain.replaceAll(/[\\\-`'~^]/g, (character) => escapes[character]!);

/** A line of text. A dot at its beginning would be a macro. */
const text = (plain: string): string => toRoff(plain).replace(/^\./, "\\&.");

/** Quotes an argument of a macro. */
const argument = (plain: string): string => `"${toRoff(plain).replaceAll('"', "\\(dq")}"`;
