/** Walks a simple command: assignments, words, redirections, and then what it runs. */
import type { Assignment, Command, CommandArgument } from "unbash";
import { judgeAssignment } from "../rules/variables.ts";
import { report, type Scope } from "./analysis.ts";
import { combine } from "./combine.ts";
import { expandToText, expandWord } from "./expand.ts";
import { runEmbedded, runIndex } from "./parameters.ts";
import { applyRedirects, finishRedirects, judgeShellSocket } from "./redirects.ts";
import type { Value } from "./state.ts";
import { runSinks } from "./substitute.ts";
import { concat, emptyText, joinOrigins, known, limitOptions, unknown, type Options, type Text } from "./text.ts";
import { baseName } from "../paths.ts";

/** `BASH_CMDS[ls]=/bin/rm` makes `ls` run another program. */
function remapCommands(name: string, keys: readonly Text[], values: Options<Value>, scope: Scope): void {
  report(scope, "high", "opaque_exec", `${name} changes what later commands run.`);
  for (const { text } of keys) for (const [value] of values) if (value) scope.state.aliases.set(text, value);
}

const declarations = /^(?:export|declare|typeset|local|readonly)$/;

export function runSimpleCommand(node: Command, scope: Scope): Options<Text> {
  scope.analysis.step();
  const assignments = node.prefix.filter((part) => part.type === "Assignment");
  const words = node.name ? [node.name, ...node.args] : [];
  const rows = combine(words.map((word) => expandArgument(word, scope))).map((lists) => lists.flat());
  const applied = applyRedirects(node.redirects, scope);
  const saved = new Map(assignments.map(({ name }) => [name, scope.state.variables.get(name)]));
  for (const assignment of assignments) assign(assignment, scope);
  const isDeclaration = declarations.test(node.name?.value ?? "");
  // What `declare -n` assigns is the name of another variable, not a value of it.
  const isReference = isDeclaration && node.args.some((word) => word.type === "Word" && /^-\w*n/.test(word.value));
  if (isDeclaration && !isReference)
    for (const argument of node.args) if (argument.type === "Assignment") assign(argument, scope);
  if (words.length === 0) return finishRedirects(applied, readAlone(applied.stdin), scope);
  judgeShellSocket(applied, baseName(node.name?.value ?? ""), scope);
  const output = runRows(rows, { ...scope, stdin: applied.stdin ?? scope.stdin });
  for (const [name, value] of saved) {
    if (value) scope.state.variables.set(name, value);
    else scope.state.variables.delete(name);
  }
  const expanded = rows.flat();
  const sinks = expanded.map((word) => word.text).filter((text) => scope.analysis.sinks.has(text));
  if (sinks.length > 0) runSinks(sinks, passOn(scope.stdin, expanded), scope);
  return finishRedirects(applied, output, scope);
}

/** A redirection without a command: `$(< file)` is the content of the file. */
const readAlone = (stdin: Options<Text> | undefined): Options<Text> => stdin ?? [emptyText];

const passOn = (stdin: Options<Text>, words: readonly Text[]) =>
  stdin.some((text) => text.text !== "") ? stdin : [unknown(joinOrigins(words))];

/** Each possibility begins with the same state; afterwards any of them may have run. */
function runRows(rows: readonly (readonly Text[])[], scope: Scope): Options<Text> {
  const { interpreter, state } = scope;
  const run = (row: readonly Text[], inner: Scope) =>
    row.length === 0 ? [emptyText] : interpreter.runCommand(row, inner);
  if (rows.length === 1) return run(rows[0]!, scope);
  const states = rows.map(() => state.clone());
  const outputs = rows.flatMap((row, index) => run(row, { ...scope, state: states[index]! }));
  state.replaceBy(states[0]!);
  state.merge(states.slice(1));
  return limitOptions(outputs);
}

function expandArgument(argument: CommandArgument, scope: Scope): Options<readonly Text[]> {
  if (argument.type === "Word") return expandWord(argument, scope);
  if (argument.index) expandToText(argument.index, scope);
  const prefix = known(argument.text.slice(0, argument.value.pos - argument.pos));
  if (argument.value.type === "ArrayValue") return [[concat(prefix, known("(…)"))]];
  return expandToText(argument.value, scope).map((text) => [concat(prefix, text)]);
}

function assign({ name: given, value, append, index }: Assignment, scope: Scope): void {
  const name = scope.state.getTarget(given);
  const keys = index ? expandToText(index, scope) : [];
  for (const key of keys) runIndex(key, scope);
  const values: Options<Value> =
    value.type === "ArrayValue"
      ? combine(value.elements.map((element) => expandWord(element, scope))).map((lists) => lists.flat())
      : expandToText(value, scope).map((text) => [text]);
  for (const item of values) {
    judgeAssignment(name, item[0] ?? emptyText, scope);
    // Such a text is only of use where bash computes it: in a variable declared with `-i`, as an offset or as a count.
    runEmbedded(
      item.filter(({ text }) => /\w\[\s*(?:\$\(|`)/.test(text)),
      scope,
    );
  }
  if (name === "BASH_CMDS" || name === "BASH_ALIASES") remapCommands(name, keys, values, scope);
  const before = scope.state.variables.get(name) ?? [[]];
  if (index)
    scope.state.set(
      name,
      before.map((old) => [...old.map(() => unknown()), ...values.flat(), unknown()]),
    );
  else if (!append) scope.state.set(name, values);
  else if (value.type === "ArrayValue")
    scope.state.set(
      name,
      before.flatMap((old) => values.map((add) => [...old, ...add])),
    );
  else
    scope.state.set(
      name,
      before.flatMap((old) => values.map((add) => [concat(old[0] ?? emptyText, add[0] ?? emptyText)])),
    );
}
