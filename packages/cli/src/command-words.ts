/** Words that look like a command but are none. They get a hint instead of going to the model. */
import { commands } from "./commands/index.ts";
import { UsageError } from "./errors.ts";

const packages = "Use tau install, tau remove and tau list.";

/** Commands of other agents, and what to use here. */
const hints: Readonly<Record<string, string>> = {
  login: "Use tau auth login.",
  logout: "Use tau auth logout.",
  upgrade: "Use tau update, or tau update --self.",
  uninstall: "Use tau remove.",
  plugin: packages,
  plugins: packages,
  version: "Use tau --version.",
  mcp: "tau has no MCP servers yet.",
  chat: "Use tau alone in a terminal, or tau -c to continue.",
};

/** More arguments than this are a sentence, unless the first is a subcommand: `mcp add NAME COMMAND ...` takes any number. */
const maxArguments = 2;
const subcommands = /^(mcp|plugins?) (add|get|install|list|remove|uninstall|update) /;

/** Throws if the command line looks like a command that does not exist. With `-p` it is always a prompt. */
export async function checkCommandWords(args: readonly string[]): Promise<void> {
  const [word = "", ...rest] = args;
  if (!/^[a-z]+$/.test(word) || rest.includes("-p") || rest.includes("--print")) return;
  const text = args.join(" ");
  const isLong = rest.length > maxArguments && !subcommands.test(text);
  const isSentence = isLong || rest.some((argument) => /\s|[.,;:!?]$/.test(argument));
  const hint = Object.hasOwn(hints, word) && !isSentence ? hints[word] : await suggestCommand(word, rest[0]);
  if (hint === undefined) return;
  const isCommand = commands.some(({ name }) => name === word);
  const problem = isCommand ? `a command comes before all flags: tau ${text}.` : `there is no command ${word}. ${hint}`;
  throw new UsageError(`${problem} To send it to the model, use tau -p "${text}".`);
}

/**
 * The command that a misspelled word means. A word alone may differ from a command by one edit only, because `tau hello`
 * is a prompt; before a subcommand it may differ by more.
 */
async function suggestCommand(word: string, subcommand: string | undefined): Promise<string | undefined> {
  const candidates = commands.filter(({ name, usage }) =>
    subcommand === undefined ? true : usage.some((line) => line.startsWith(`tau ${name} ${subcommand} `)),
  );
  if (candidates.length === 0) return undefined;
  const names = candidates.map(({ name }) => name);
  const { nearestNames } = await import("@tau/ai/internal");
  const [nearest] = nearestNames(word, names, subcommand === undefined ? 1 : undefined);
  return nearest && `Did you mean ${nearest}?`;
}
