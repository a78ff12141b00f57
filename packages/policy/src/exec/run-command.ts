/** Runs one command with its words: a function, an alias, a builtin, a file of the script, or a program. */
import { baseName, isBelow } from "./paths.ts";
import { isProgram } from "./programs/index.ts";
import { judgeProgram, listRuledNames } from "./rules/index.ts";
import { AnalysisLimitError, deepen, report, type Scope } from "./shell/analysis.ts";
import { builtins } from "./shell/builtins.ts";
import { getReadOrigin, isOwnCredentialPath, judgeRead, reportOwnSecrets } from "./shell/files.ts";
import { callFunction } from "./shell/functions.ts";
import { hasPattern, isCheapPattern, toRegExp } from "./shell/pattern.ts";
import {
  hasOrigin,
  isKnown,
  joinOrigins,
  known,
  limitOptions,
  origins,
  unknown,
  type Options,
  type Text,
} from "./shell/text.ts";
import { runFile } from "./code/run-code.ts";
import { getOperands, resolveAll, type Invocation } from "./rules/invocation.ts";

export function runCommand(words: readonly Text[], outer: Scope): Options<Text> {
  const scope = deepen(outer, { command: outer.analysis.addCommand(words) });
  const [first, ...args] = words;
  const text = first!.text;
  const name = baseName(text);
  if (!isKnown(name) || name === "") return runOpaque(first!, args, scope);
  if (hasPattern(text) && text !== "[") return runPattern(text, words, scope);
  if (!text.includes("/")) {
    const alias = scope.state.aliases.get(name);
    if (alias && !outer.calls.some((call) => call.name === `alias ${name}`)) runAlias(alias, words, scope);
    const body = scope.state.functions.get(name);
    if (body) return callFunction(name, body, args, scope);
    const builtin = builtins.get(name);
    if (builtin) return builtin({ name, words, args }, scope) ?? [unknown(joinOrigins(args))];
  } else {
    const output = runFile(first!, args, scope);
    if (output) return output;
  }
  return runProgram({ name, words, args }, scope);
}

/** The name is only known when the command runs. */
function runOpaque(name: Text, args: readonly Text[], scope: Scope): Options<Text> {
  if (hasOrigin(name, origins.network)) {
    const tier = scope.isPrivileged ? "critical" : "high";
    report(scope, tier, "pipe_to_shell", "It runs a command that another machine sends.");
  } else report(scope, "high", "opaque_exec", "The name of the program is not known before it runs.");
  return [unknown(joinOrigins([name, ...args]))];
}

/** A pattern in the name may become any program that it matches. */
function runPattern(text: string, words: readonly Text[], scope: Scope): Options<Text> {
  report(scope, "high", "opaque_exec", "The name of the program is a pattern.");
  const name = baseName(text);
  if (!isCheapPattern(name)) throw new AnalysisLimitError("The name of the program is a pattern that is too long.");
  // Once: a program that it may become runs the rest of the words, which may begin with a pattern again.
  if (scope.calls.some((call) => call.name === patternCall)) return [unknown(joinOrigins(words))];
  scope.analysis.step(100);
  const pattern = toRegExp(name);
  const names = listRuledNames()
    .filter((candidate) => pattern.test(candidate))
    .slice(0, maxMatches);
  const call = { name: patternCall, returns: [], recursions: new Map(), pipeline: {}, backgrounds: 0 };
  const inner = deepen(scope, { calls: [...scope.calls, call] });
  const outputs = names.flatMap((match) => runProgram({ name: match, words, args: words.slice(1) }, inner));
  return limitOptions(outputs.length > 0 ? outputs : [unknown()]);
}

const patternCall = "a pattern";
const maxMatches = 64;

/** Aliases are only expanded where that is switched on, so both meanings are judged. */
function runAlias(alias: Text, [first, ...args]: readonly Text[], scope: Scope): void {
  const call = { name: `alias ${first!.text}`, returns: [], recursions: new Map(), pipeline: {}, backgrounds: 0 };
  const rest = args.map(({ text }) => ` ${quote(text)}`).join("");
  scope.interpreter.runText(
    { text: alias.text + rest, origin: alias.origin | joinOrigins(args) },
    deepen(scope, { calls: [...scope.calls, call] }),
  );
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function runProgram(invocation: Invocation, scope: Scope): Options<Text> {
  const output = judgeProgram(invocation, scope);
  judgeSecretRead(invocation, scope);
  return output ?? [getAnyOutput(invocation, scope)];
}

const isSearchOption = ({ text }: Text) => /^-\w*[ef]|^--(?:regexp|file)/.test(text);

/** Names of tau's own secrets are recognised wherever they stand, such as in `--unix-socket=PATH` and `UNIX-CONNECT:PATH`. */
function judgeOwnSecrets({ name, args }: Invocation, scope: Scope): void {
  if (isProgram(name, "readsNothing")) return;
  const { context } = scope.analysis;
  for (const arg of args) {
    const { text } = arg;
    // No path is longer, and what has many parts is no option with a path.
    if (text.length > 4_096) continue;
    const parts = [text, ...text.split(/[=,:@]/, 8).slice(1)];
    const paths = parts.flatMap((part) => resolveAll(part === text ? arg : { ...arg, text: part }, scope));
    const secret = paths.find((path) => isOwnCredentialPath(path, context));
    if (secret !== undefined) return reportOwnSecrets(secret, scope);
  }
}

function judgeSecretRead(invocation: Invocation, scope: Scope): void {
  judgeOwnSecrets(invocation, scope);
  const { name, args } = invocation;
  if (isProgram(name, "namesFiles")) return;
  const { workspace } = scope.analysis.context;
  const isInside = scope.state.allDirectories.every((path) => path === workspace || isBelow(path, workspace));
  const operands = getOperands(args);
  // The first operand of `grep` is no file.
  const isSearch = isProgram(name, "search") && hasPattern(operands[0]?.text ?? "") && !args.some(isSearchOption);
  for (const arg of isSearch ? operands.slice(1) : operands)
    if (!isInside || /[/.~]/.test(arg.text)) for (const path of resolveAll(arg, scope)) judgeRead(path, scope);
}

/** Any text that a program may make of its input, its arguments and the files that these name. */
function getAnyOutput({ args }: Invocation, scope: Scope): Text {
  const paths = getOperands(args)
    .filter(({ text }) => /[/.~]/.test(text) && text.length < 4_096)
    .flatMap((arg) => resolveAll(arg, scope));
  const origin = joinOrigins(scope.stdin) | joinOrigins(args) | getReadOrigin(paths, scope);
  return { ...known(unknown().text), origin: origin & ~origins.trusted };
}
