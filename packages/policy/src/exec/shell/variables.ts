/** The values of shell variables, also of those that the script does not set itself. Pure. */
import type { ExecContext } from "../classification.ts";
import type { ShellState, Value } from "./state.ts";
import { isKnown, joinOrigins, known, origins, unknown, type Options } from "./text.ts";

/** Holds what a login shell holds. */
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const secretName =
  /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|CREDENTIALS?|APIKEY|(?:API|ACCESS|PRIVATE|SECRET|AUTH)_?KEY)(?:_|$)/i;
const alwaysSet =
  /^(?:LANG|TERM|UID|EUID|GROUPS|RANDOM|SRANDOM|SECONDS|LINENO|BASHPID|BASH_VERSION|BASHOPTS|SHELLOPTS|SHLVL|OSTYPE|MACHTYPE|HOSTTYPE|COLUMNS|LINES|EPOCHSECONDS|EPOCHREALTIME|OPTIND|[?$!#-])$/;

/** Every value that a variable may have. An empty list of elements means: not set. */
export function getVariable(name: string, state: ShellState, context: ExecContext): Options<Value> {
  const own = state.variables.get(state.getTarget(name));
  if (own) return own;
  const named = context.named?.find(({ variable }) => variable === name);
  if (named) return [[known(named.value)]];
  switch (name) {
    case "HOME":
      return [[known(context.home)]];
    case "PWD":
      return state.allDirectories.map((directory) => [known(directory)]);
    case "OLDPWD":
      return [[state.previousDirectory === undefined ? unknown() : known(state.previousDirectory)]];
    case "IFS":
      return [[known(" \t\n")]];
    case "PATH":
      return [[known(defaultPath)]];
    case "SHELL":
    case "BASH":
      return [[known("/bin/bash")]];
    case "0":
      return [[known("bash")]];
    case "TMPDIR":
      return [[known("/tmp")]];
    // Mostly not set. Where they are, it is to these.
    case "XDG_CONFIG_HOME":
      return [[], [known(`${context.home}/.config`)]];
    case "XDG_DATA_HOME":
      return [[], [known(`${context.home}/.local/share`)]];
    case "ZDOTDIR":
      return [[], [known(context.home)]];
    case "USER":
    case "LOGNAME":
    case "HOSTNAME":
      return [[unknown(origins.identity)]];
    case "PPID":
      return [[unknown(origins.parent)]];
  }
  if (alwaysSet.test(name)) return [[unknown()]];
  if (secretName.test(name)) return [[unknown(origins.token)]];
  return [[], [unknown()]];
}

/** Arguments of a function or a script by number. What is not known may be several arguments, so later ones may move. */
export function getPositional(index: number, state: ShellState): Options<Value> {
  return state.positional.flatMap((values): Options<Value> => {
    const own: Value = index <= values.length ? [values[index - 1]!] : [];
    return isCertain(values.slice(0, index)) ? [own] : [own, [unknown(joinOrigins(values))]];
  });
}

/** Whether each text is exactly one element. */
export const isCertain = (value: Value): boolean => value.every(({ text }) => isKnown(text));
