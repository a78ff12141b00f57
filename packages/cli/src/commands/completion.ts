/** Shell completion from the tables of flags and commands. tau does not run when Tab is pressed. */
import { getProviders } from "@tau/ai";
import type { Io } from "../command.ts";
import { flags } from "../flags.ts";
import { listSettings } from "./config-keys.ts";
import { listTopics } from "./help-topics.ts";
import { commands } from "./index.ts";
import { type CommandArgs, parseUsages } from "./usage.ts";

export async function printBashScript(_args: CommandArgs, io: Io): Promise<void> {
  const { words, values } = createTables();
  io.out(`# bash completion for tau; made by: tau completion bash
_tau_words() {
  case "$1" in
${formatCases(words)}
  esac
}
_tau_values() {
  case "$1" in
    ' --agent') ls "\${TAU_DIR:-$HOME/.tau}/agents" 2> /dev/null ;;
${formatCases(values)}
  esac
}
_tau() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="" words=""
  if [ "$COMP_CWORD" -gt 1 ] && [ -n "$(_tau_words "\${COMP_WORDS[1]}")" ]; then command="\${COMP_WORDS[1]}"; fi
  if [ -n "$command" ] && [ "$COMP_CWORD" -gt 2 ] && [ -n "$(_tau_words "$command \${COMP_WORDS[2]}")" ]; then
    command="$command \${COMP_WORDS[2]}"
  fi
  words="$(_tau_values "$command $before")"
  if [ -z "$words" ]; then words="$(_tau_words "$command")"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _tau tau
`);
}

type Words = Map<string, readonly string[]>;

/** `words` are completions after a command and its subcommand, `values` those after a flag of it. */
function createTables(): { words: Words; values: Words } {
  const known: Readonly<Record<string, readonly string[]>> = {
    PROVIDER: getProviders(),
    KEY: listSettings(),
    TOPIC: listTopics(),
  };
  const words: Words = new Map();
  const values: Words = new Map();
  words.set("", [...commands.map(({ name }) => name), ...flags.flatMap(withDashes)]);
  for (const { name, choices } of flags) if (choices) values.set(` --${name}`, choices);
  for (const command of commands) {
    const usages = parseUsages(command);
    const subcommands = usages.map(({ subcommand }) => subcommand).filter((name) => name !== "");
    if (subcommands.length > 0) words.set(command.name, [...subcommands, "--help"]);
    for (const usage of usages) {
      const prefix = `${command.name} ${usage.subcommand}`.trimEnd();
      const positionals = usage.positionals.flatMap(({ name }) => known[name] ?? []);
      words.set(prefix, [...positionals, ...usage.flags.flatMap(withDashes), "--help"]);
      for (const { name, choices } of usage.flags) if (choices) values.set(`${prefix} --${name}`, choices);
    }
  }
  return { words, values };
}

const withDashes = ({ name, short }: { name: string; short?: string }): string[] =>
  short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];

/** Names in the tables are plain words: a shell takes them literally between single quotes. */
const formatCases = (table: Words): string =>
  [...table].map(([name, words]) => `    '${name}') echo '${words.join(" ")}' ;;`).join("\n");
