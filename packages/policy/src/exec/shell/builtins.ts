/** Builtins of the shell that change its state or run code. */
import { joinWords, sourceFile } from "../rules/shells.ts";
import { runHere } from "../code/run-code.ts";
import type { Invocation } from "../rules/invocation.ts";
import { parseOptions } from "../rules/options.ts";
import { getZone, resolvePath } from "../paths.ts";
import { judgeAssignment } from "../rules/variables.ts";
import { judgeWrite } from "../rules/write.ts";
import { deepen, report, type Scope } from "./analysis.ts";
import { runEmbedded } from "./parameters.ts";
import { formatPrintf } from "./printf.ts";
import type { Value } from "./state.ts";
import {
  concat,
  emptyText,
  isKnown,
  joinOrigins,
  known,
  unknown,
  unknownMark,
  type Options,
  type Text,
} from "./text.ts";
import { isCertain } from "./variables.ts";

type Builtin = (invocation: Invocation, scope: Scope) => Options<Text> | undefined | void;

const silent: Options<Text> = [emptyText];

const changeDirectory: Builtin = ({ name, args }, scope) => {
  const { state, analysis } = scope;
  const target = args.find(({ text }) => text === "-" || !text.startsWith("-"));
  if (name === "popd" || target?.text === "-") {
    // A script can say itself where it comes from.
    const assigned = (state.variables.get("OLDPWD") ?? []).flatMap(([value]) => value?.text ?? []);
    moveTo(name === "cd" && assigned.length > 0 ? assigned : [state.previousDirectory ?? unknown().text], scope);
    return silent;
  }
  if (!target && name === "pushd") return silent;
  const path = target?.text ?? analysis.context.home;
  const starts = [...state.directories, ...(/^[/~.]/.test(path) ? [] : getSearched(scope))];
  const directories = starts.map((from) => (path === "" ? from : resolvePath(path, from, analysis.context.home)));
  const isPhysical = args.some(({ text }) => /^-\w*P/.test(text));
  moveTo(isPhysical ? directories.flatMap((directory) => state.follow(directory)) : directories, scope);
  return silent;
};

/** Directories in which `cd NAME` looks for the name. */
const getSearched = ({ state, analysis }: Scope): string[] =>
  (state.variables.get("CDPATH") ?? [])
    .flatMap(([value]) => value?.text.split(":") ?? [])
    .filter((directory) => directory !== "")
    .flatMap((directory) => state.resolve(directory, analysis.context.home))
    .slice(0, 4);

function moveTo(directories: readonly string[], { state, analysis }: Scope): void {
  const isRisky = (directory: string) =>
    !/^(?:workspace|in-workspace|in-temp)$/.test(getZone(directory, analysis.context));
  state.earlierDirectories = [
    ...new Set([...state.earlierDirectories, ...state.realDirectories.filter(isRisky)]),
  ].slice(0, 4);
  state.previousDirectory = state.directories[0];
  state.directories = [...new Set(directories)];
  state.variables.delete("OLDPWD");
}

/** `export "A=b"` and the like, where the assignment is not visible in the syntax. */
const declare: Builtin = ({ args }, scope) => {
  const isReference = args.some(({ text }) => /^-\w*n/.test(text));
  const isInteger = args.some(({ text }) => /^-\w*i/.test(text));
  // The elements and the index of an array are expanded once more: `declare -a 'x=($(CMD))'`.
  runEmbedded(
    args.filter(({ text }) => /^\w+(?:\[|\+?=\()/.test(text)),
    scope,
  );
  for (const arg of args) {
    if (isReference && /^\w+$/.test(arg.text)) scope.state.references.set(arg.text, "");
    const match = /^(\w+|BASH_FUNC_\S+?(?:%%|\(\)))(\+?)=(.*)$/s.exec(arg.text);
    if (!match) continue;
    const [, name = "", , value = ""] = match;
    const text = { ...arg, text: value };
    if (isReference && /^\w+$/.test(value)) {
      scope.state.variables.delete(name);
      scope.state.references.set(name, value);
    } else if (isReference || isInteger) {
      runEmbedded([text], scope);
      scope.state.set(name, [[unknown(arg.origin)]]);
    } else if (!scope.state.variables.has(name)) {
      judgeAssignment(name, text, scope);
      scope.state.set(name, [[text]]);
    }
  }
  if (args.length === 0 || args.some(({ text }) => text === "-p")) return undefined;
  return silent;
};

/** Sets variables from the input: one line for `read`, all of it for `mapfile`. */
const readInput: Builtin = ({ name, args }, scope) => {
  runEmbedded(args, scope);
  const isArray = name !== "read";
  const options = parseOptions(args, { options: isArray ? "d:n:O:s:u:C:c:t" : "a:d:i:n:N:p:t:u:ers" });
  for (const callback of options.get("C")) runHere(callback, scope);
  const [stdin = emptyText] = scope.stdin;
  const lines = stdin.text.split("\n");
  const isFixed =
    isKnown(stdin.text) && scope.stdin.length === 1 && scope.loop === undefined && lines.filter(Boolean).length <= 1;
  const names = [...options.get("a").map(({ text }) => text), ...options.operands.map(({ text }) => text)];
  const words = (lines[0] ?? "").trim().split(/[ \t]+/);
  names.forEach((variable, index) => {
    if (!/^\w+$/.test(variable)) return;
    const isLast = index === names.length - 1;
    const value = isFixed
      ? known(isLast ? words.slice(index).join(" ") : (words[index] ?? ""), stdin.origin)
      : unknown(joinOrigins(scope.stdin));
    if (isArray && isKnown(stdin.text) && scope.stdin.length === 1 && lines.length <= 32) {
      scope.state.set(variable, [lines.filter(Boolean).map((line) => known(line, stdin.origin))]);
    } else if (isArray || options.has("a")) scope.state.set(variable, [[unknown(joinOrigins(scope.stdin))]]);
    else scope.state.set(variable, isFixed ? [[value]] : [...toLineValues(scope), [value]]);
  });
  return silent;
};

/** Each line of which something is known may be the one that is read. */
const toLineValues = (scope: Scope) =>
  scope.stdin.flatMap((stdin) =>
    stdin.text
      .split("\n")
      .filter((line) => line !== "" && line !== unknownMark)
      .slice(0, 6)
      .map((line) => [known(line.trim(), stdin.origin)]),
  );

const setTrap: Builtin = ({ args }, scope) => {
  const code = args.find(({ text }) => !/^-[lp-]?$/.test(text));
  if (!code || args.length < 2) return silent;
  scope.state.traps = [...scope.state.traps, code];
  runHere(code, { ...scope, state: scope.state.clone() });
  return silent;
};

const setPositional: Builtin = ({ name, args }, scope) => {
  const { state } = scope;
  if (name === "shift") {
    const count = args[0] ? Number(args[0].text) : 1;
    state.positional = state.positional.flatMap((values): Options<Value> => {
      if (Number.isInteger(count) && isCertain(values.slice(0, count))) return [values.slice(count)];
      return [values.slice(1), values, [unknown(joinOrigins(values))]];
    });
    return silent;
  }
  const end = args.findIndex(({ text }) => text === "--");
  const from = end === -1 ? args.findIndex(({ text }) => !/^[-+]/.test(text)) : end + 1;
  if (from >= 0) state.positional = [args.slice(from)];
  return args.length === 0 ? undefined : silent;
};

const setAlias: Builtin = ({ args }, scope) => {
  for (const arg of args) {
    const match = /^([^=]+)=(.*)$/s.exec(arg.text);
    if (match) scope.state.aliases.set(match[1]!, { ...arg, text: match[2]! });
  }
  return silent;
};

const leave: Builtin = ({ name }, scope) => {
  if (name === "return") scope.calls.at(-1)?.returns.push(scope.state.clone());
  else if (name !== "exit") scope.loop?.push(scope.state.clone());
  return silent;
};

/** `command` and `builtin` skip functions; `exec` replaces the shell. */
const runDirectly: Builtin = ({ name, args }, scope) => {
  const options = parseOptions(args, { options: name === "exec" ? "a:cl" : "pvV", stopsAtOperand: true });
  const [first] = options.operands;
  if (!first) return silent;
  if (options.has("v", "V")) return [concat(first, known("\n"))];
  const state = name === "exec" ? scope.state : scope.state.clone();
  const isFunction = state.functions.has(first.text);
  const inner = deepen(scope, { state: isFunction ? state.clone() : scope.state });
  if (isFunction) {
    inner.state.functions.delete(first.text);
    inner.state.aliases.delete(first.text);
  }
  return scope.interpreter.runCommand(options.operands, inner);
};

const unset: Builtin = ({ args }, scope) => {
  runEmbedded(args, scope);
  const isFunction = args.some(({ text }) => text === "-f");
  for (const { text } of args) {
    if (isFunction) scope.state.functions.delete(text);
    else if (/^\w+$/.test(text)) scope.state.set(text, [[]]);
  }
  return silent;
};

const printf: Builtin = ({ args }, scope) => {
  if (args[0]?.text !== "-v") return [formatPrintf(args)];
  runEmbedded(args.slice(1, 2), scope);
  scope.state.set(args[1]?.text ?? "", [[formatPrintf(args.slice(2))]]);
  return silent;
};

const evaluate = ({ args }: Invocation, scope: Scope) =>
  runHere(joinWords(args[0]?.text === "--" ? args.slice(1) : args), scope);

/** Builtins that make a later command run something else. */
const remap: Builtin = ({ name, args }, scope) => {
  // `hash -p PATH NAME` makes NAME run PATH.
  if (name === "hash" && args[0]?.text === "-p" && args[1] && args[2]) scope.state.aliases.set(args[2].text, args[1]);
  if (args.some(({ text }) => /^-\w*[fpxC]/.test(text))) {
    report(scope, "high", "opaque_exec", `${name} changes what later commands run.`);
  }
  for (const [index, { text }] of args.entries()) {
    if (text === "-C" && args[index + 1]) runHere(args[index + 1]!, scope);
    if (text === "-W" && name === "compgen") runEmbedded(args.slice(index + 1, index + 2), scope);
  }
  return silent;
};

const quiet: Builtin = () => silent;

/** `history -w FILE` writes what was typed before. */
const history: Builtin = ({ args: [option, file] }, scope) => {
  if (file && /^-[aw]$/.test(option!.text))
    for (const path of scope.state.resolve(file.text, scope.analysis.context.home)) judgeWrite(path, scope);
  return silent;
};

/** Builtins that are given the name of a variable expand an index in it. */
const setNamed: Builtin = ({ args }, scope) => {
  runEmbedded(args, scope);
  return silent;
};

const testValue: Builtin = ({ args }, scope) => {
  const isEvaluated = args.some(({ text }) => /^-(?:v|eq|ne|lt|le|gt|ge)$/.test(text));
  if (isEvaluated) runEmbedded(args, scope);
  return silent;
};

const compute: Builtin = ({ args }, scope) => {
  runEmbedded(args, scope);
  for (const { text } of args) {
    const name = /^(\w+)\s*[-+*/%]?=/.exec(text)?.[1];
    if (name) scope.state.set(name, [[unknown()]]);
  }
  return silent;
};

const forNames = (names: string, builtin: Builtin) =>
  Object.fromEntries(names.split(" ").map((name) => [name, builtin]));

const table: Record<string, Builtin> = {
  ...forNames("cd pushd popd", changeDirectory),
  ...forNames("export declare typeset local readonly", declare),
  ...forNames("read mapfile readarray", readInput),
  ...forNames("set shift", setPositional),
  ...forNames("return break continue exit logout", leave),
  ...forNames("command builtin exec", runDirectly),
  ...forNames("enable hash bind complete compgen", remap),
  ...forNames(": true false jobs shopt ulimit umask disown bg fg suspend unalias times fc dirs caller", quiet),
  ...forNames("getopts wait", setNamed),
  ...forNames("test [", testValue),
  ...forNames("source .", ({ args }, scope) => {
    const [file, ...rest] = args;
    if (!file) return silent;
    if (rest.length > 0) scope.state.positional = [rest];
    return sourceFile(file, scope);
  }),
  history,
  trap: setTrap,
  alias: setAlias,
  unset,
  printf,
  eval: evaluate,
  let: compute,
};

export const builtins: ReadonlyMap<string, Builtin> = new Map(Object.entries(table));
