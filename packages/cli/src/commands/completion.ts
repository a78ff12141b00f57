/** `tau completion bash`: a script made of the tables of flags and commands. Nothing of tau runs when Tab is pressed. */
import { exitCodes } from "../exit-codes.ts";
import type { Run } from "../command.ts";
import { flags } from "../flags.ts";
import { getForms } from "./forms.ts";
import { topicNames } from "./help-topics.ts";
import { commands } from "./index.ts";
import { runForms } from "./run-forms.ts";

export const completion: Run = async (args, io) =>
  await runForms(
    "completion",
    {
      bash: async () => {
        const { getProviders } = await import("@tau/ai");
        const { getNames } = await import("./config-keys.ts");
        io.out(bashScript({ PROVIDER: getProviders(), KEY: getNames(), TOPIC: topicNames() }));
        return exitCodes.done;
      },
    },
    { args, io },
  );

/** `known` are the words that stand for what a form calls by a name in capitals. */
export function bashScript(known: Readonly<Record<string, readonly string[]>>): string {
  const { words, values } = getTables(known);
  return `# bash completion for tau; made by: tau completion bash
_tau_words() {
  case "$1" in
${cases(words)}
  esac
}
_tau_values() {
  case "$1" in
${cases(values)}
  esac
}
_tau() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" form="" found=""
  if [ "$COMP_CWORD" -gt 1 ] && [ -n "$(_tau_words "\${COMP_WORDS[1]}")" ]; then form="\${COMP_WORDS[1]}"; fi
  if [ -n "$form" ] && [ "$COMP_CWORD" -gt 2 ] && [ -n "$(_tau_words "$form \${COMP_WORDS[2]}")" ]; then
    form="$form \${COMP_WORDS[2]}"
  fi
  found="$(_tau_values "$form $before")"
  if [ -z "$found" ]; then found="$(_tau_words "$form")"; fi
  COMPREPLY=($(compgen -W "$found" -- "$current"))
}
complete -o bashdefault -o default -F _tau tau
`;
}

type Words = Map<string, readonly string[]>;

function getTables(known: Readonly<Record<string, readonly string[]>>): { words: Words; values: Words } {
  const words: Words = new Map();
  const values: Words = new Map();
  words.set("", [...commands.map(({ name }) => name), ...flags.flatMap(({ name, short }) => dashed(name, short))]);
  for (const { name, choices } of flags) if (choices) values.set(` --${name}`, choices);
  for (const command of commands) {
    const forms = getForms(command);
    const subcommands = forms.map(({ word }) => word).filter((word) => word !== "");
    if (subcommands.length > 0) words.set(command.name, [...subcommands, "--help"]);
    for (const { word, flags: own, places } of forms) {
      const form = word === "" ? command.name : `${command.name} ${word}`;
      const offered = own.flatMap(({ name, short }) => dashed(name, short));
      words.set(form, [...places.flatMap(({ name }) => known[name] ?? []), ...offered, "--help"]);
      for (const { name, choices } of own) if (choices) values.set(`${form} --${name}`, choices);
    }
  }
  return { words, values };
}

const dashed = (name: string, short: string | undefined): string[] =>
  short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];

/** Names in the tables are plain words: nothing in them means something to a shell between single quotes. */
const cases = (table: Words): string =>
  [...table].map(([name, words]) => `    '${name}') echo '${words.join(" ")}' ;;`).join("\n");
