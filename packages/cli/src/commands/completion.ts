/** Shell completion: scripts that ask the program itself (`complete.ts`) when Tab is pressed. */
import type { Io } from "./command.ts";
import type { CommandArgs } from "./usage.ts";
import { UsageError } from "../process/errors.ts";

interface Shell {
  /** How a user installs it. */
  install: string;
  script: string;
}

const shells: Readonly<Record<string, Shell>> = {
  bash: {
    install: "tau completion bash >> ~/.bash_completion",
    script: `# bash completion for tau; made by: tau completion bash
_tau() {
  local IFS=$'\\n'
  COMPREPLY=($("\${1/#\\~/$HOME}" __complete bash "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null))
  case "\${COMPREPLY[*]}" in */) compopt -o nospace 2>/dev/null ;; esac
}
complete -o bashdefault -o default -F _tau tau
`,
  },
  zsh: {
    install:
      "mkdir -p ~/.zfunc && tau completion zsh > ~/.zfunc/_tau, with fpath=(~/.zfunc $fpath) before compinit in ~/.zshrc",
    script: `#compdef tau
# zsh completion for tau; made by: tau completion zsh
_tau() {
  local line
  local -a values shown directories
  for line in "\${(@f)$(\${(Q)words[1]/#\\~/$HOME} __complete zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}"; do
    case "\${line%%$'\\t'*}" in
      '') ;;
      */) directories+=("\${line%%$'\\t'*}") ;;
      *)
        values+=("\${line%%$'\\t'*}")
        shown+=("\${\${line/$'\\t'/  }%  }")
        ;;
    esac
  done
  if (( \${#values} + \${#directories} == 0 )); then
    _default
    return
  fi
  (( \${#values} )) && compadd -l -d shown -a values
  (( \${#directories} )) && compadd -S '' -a directories
  return 0
}
if [ "$funcstack[1]" = _tau ]; then _tau "$@"; else compdef _tau tau; fi
`,
  },
  fish: {
    install: "tau completion fish > ~/.config/fish/completions/tau.fish",
    script: `# fish completion for tau; made by: tau completion fish
function __tau_complete
    set -l words (commandline -opc)
    set -l current (string replace -r '^["\\']' '' -- (commandline -ct) | string unescape -n)
    test (count $current) -gt 0; or set current ''
    command $words[1] __complete fish $words[2..] "$current" 2>/dev/null
end
complete -c tau -f -a '(__tau_complete)'
`,
  },
};

export async function printScript({ positionals: [name = ""] }: CommandArgs, io: Io): Promise<void> {
  const shell = Object.hasOwn(shells, name) ? shells[name] : undefined;
  if (shell) return io.out(shell.script);
  const problem = name === "" ? "Name a shell" : `There are no completions for ${JSON.stringify(name)}`;
  const ways = Object.entries(shells).map(([shellName, { install }]) => `\n  ${shellName.padEnd(4)}  ${install}`);
  throw new UsageError("invalid_input", `${problem}. To install them:${ways.join("")}`);
}
