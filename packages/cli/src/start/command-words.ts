/** Words that look like a command but are none. They get a hint instead of going to the model. */
import { commands } from "../commands/index.ts";
import { UsageError } from "../process/errors.ts";
import { formatPromptHint } from "../process/prompt-hint.ts";

const packages = "Use tau install, tau remove and tau list.";
const prompt = 'Use tau -p "YOUR REQUEST", or tau "YOUR REQUEST" for a session in the terminal.';
const conversation = "Use tau alone in a terminal, or tau -c to continue.";
const used = "Use tau stats, or /session in a session: it shows the tokens and the cost.";

/** Commands of other agents, and what to use here. */
const hints: Readonly<Record<string, string>> = {
  login: "Use tau auth login.",
  logout: "Use tau auth logout.",
  upgrade: "Use tau update, or tau update --self.",
  uninstall: "Use tau remove.",
  plugin: packages,
  plugins: packages,
  version: "Use tau --version.",
  chat: conversation,
  usage: used,
};

/** Hints for words that a sentence may begin with. They are commands only if nothing follows. */
const singleWordHints: Readonly<Record<string, string>> = {
  run: prompt,
  exec: prompt,
  ask: prompt,
  query: prompt,
  print: prompt,
  cost: used,
  costs: used,
  status: "Use tau auth status for keys, tau gateway status for the gateway, or tau doctor.",
  resume: "Use tau -r to choose a session, or tau -c to continue the last one.",
  session: "Use tau sessions.",
  history: "Use tau sessions.",
  export: "Use tau sessions export.",
  share: "Use tau sessions share, or /share in a session.",
  model: "Use tau models to list them, or tau --model NAME.",
  settings: "Use tau config.",
  set: "Use tau config set.",
  init: "Start tau, and ask for an AGENTS.md that describes the project.",
  new: "Use tau alone: it begins a new session.",
  start: "Use tau alone in a terminal, or tau gateway.",
  serve: "Use tau gateway.",
  server: "Use tau gateway.",
  web: "Use tau gateway: it serves a page for browsers.",
  agent: "Use tau --agent NAME.",
  agents: "Use tau --agent NAME.",
  apply: "Changes are made as the model works: there is nothing to apply.",
  theme: "Use /theme in a session, or tau config set theme NAME.",
  setup: conversation,
  tui: conversation,
  repl: conversation,
};

/** More arguments than this are a sentence, unless the first is a subcommand, which takes any number. */
const maxArguments = 2;
const subcommands = /^(plugins?) (add|get|install|list|remove|uninstall|update) /;

/** Throws if the command line looks like a command that does not exist. With `-p` it is always a prompt. */
export async function checkCommandWords(args: readonly string[]): Promise<void> {
  const [word = "", ...rest] = args;
  if (!/^[a-z]+$/.test(word) || rest.includes("-p") || rest.includes("--print")) return;
  const text = args.join(" ");
  const isLong = rest.length > maxArguments && !subcommands.test(text);
  const isSentence = isLong || rest.some((argument) => /\s|[.,;:!?]$/.test(argument));
  const known = rest.length === 0 ? { ...hints, ...singleWordHints } : hints;
  const hint = Object.hasOwn(known, word) && !isSentence ? known[word] : await suggestCommand(word, rest[0]);
  if (hint === undefined) return;
  const isCommand = commands.some(({ name }) => name === word);
  const problem = isCommand ? `a command comes before all flags: tau ${text}.` : `there is no command ${word}. ${hint}`;
  throw new UsageError("arguments", `${problem}${formatPromptHint(args)}`);
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
