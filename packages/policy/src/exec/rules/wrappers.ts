/** Programs that run another program which is named in their arguments. */
import type { Program } from "../programs/program.ts";
import { judgeAssignment } from "./variables.ts";
import { judgeOutput } from "./output-options.ts";
import { deepen, inSubshell, report, type Scope } from "../shell/analysis.ts";
import { emptyText, known, limitOptions, origins, unknown, type Options, type Text } from "../shell/text.ts";
import { runCode } from "../code/run-code.ts";
import { isInformation, type Judge, type ProgramCall } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { joinWords } from "./shells.ts";

export const runWrapped: Judge = ({ name, args, program }, outer) => {
  if (isInformation(args)) return undefined;
  const { isStrict, verb, isPrivileged, skip = 0, maySkip } = program.wraps!;
  if (verb && !verb.test(args[0]?.text ?? "")) return undefined;
  const scope = isPrivileged ? { ...outer, isPrivileged } : outer;
  const rest = verb ? args.slice(1) : args;
  const options = parseOptions(rest, { ...program, stopsAtOperand: true });
  if (isStrict && options.unknown.length > 0)
    report(
      scope,
      "high",
      "opaque_exec",
      `${name} has an unknown option ${options.unknown[0]}, so its command is not certain.`,
    );
  for (const code of options.getAll(program.code)) runCode(code, [], scope);
  for (const file of options.getAll(program.writes)) judgeOutput(file, scope);
  if ([...options.names].some((option) => /^on-|^timer-/.test(option))) {
    report(scope, "high", "persistence", `${name} runs a command later.`);
  } else if (name === "systemd-run") {
    report(scope, "medium", "persistence", "systemd-run starts a command that nobody here holds.");
  }
  const commands = isStrict ? [options.operands] : findCommands(rest, program);
  const skipped = verb ? 0 : skip;
  // `setarch` may be given the name of an architecture first.
  const starts = maySkip ? [skipped, skipped + 1] : [skipped];
  const outputs = commands.flatMap((command) => starts.map((start) => runRest(command.slice(start), program, scope)));
  return outputs.length === 0 ? [emptyText] : limitOptions(outputs.flat());
};

/**
 * Where the command of a lenient wrapper may begin. A word behind an option that is not known may be its value or the
 * command, so both are judged.
 */
function findCommands(args: readonly Text[], program: Program): (readonly Text[])[] {
  const commands: (readonly Text[])[] = [];
  const end = known("x");
  for (let index = 0; index < args.length; index++) {
    const { operands, unknown: strange } = parseOptions([args[index]!, end], { ...program, stopsAtOperand: true });
    const isOption = operands[0] !== args[index];
    if (!isOption || args[index]!.text === "--") return [...commands, args.slice(isOption ? index + 1 : index)];
    if (operands.length === 0) index++;
    else if (strange.length > 0 && !/=/.test(args[index]!.text) && /^[^-]/.test(args[index + 1]?.text ?? "-"))
      commands.push(args.slice(++index));
  }
  return commands;
}

function runRest(command: readonly Text[], program: Program, scope: Scope): Options<Text> {
  const words = skipAssignments(command, scope);
  if (words.length === 0) return [emptyText];
  // `flock FILE -c CODE` and `watchexec -s` put their code behind an operand.
  if (words[0]!.text === "-c" && words[1]) return runCode(words[1], words.slice(2), scope);
  return program.wraps!.joins
    ? runCode(joinWords(words), [], scope)
    : scope.interpreter.runCommand(words, deepen(scope));
}

/** `env A=b CMD` and the like. */
export function skipAssignments(words: readonly Text[], scope: Scope): readonly Text[] {
  let index = 0;
  for (; index < words.length; index++) {
    const match = /^([^=]*)=(.*)$/s.exec(words[index]!.text);
    if (!match) break;
    const value = { ...words[index]!, text: match[2]! };
    judgeAssignment(match[1]!, value, scope);
    scope.state.set(match[1]!, [[value]]);
  }
  return words.slice(index);
}

export const runEnv: Judge = (call, outer) =>
  isInformation(call.args) ? undefined : inSubshell(outer, (scope) => runInEnvironment(call, scope));

function runInEnvironment({ args, program }: ProgramCall, scope: Scope): Options<Text> {
  const options = parseOptions(args, { ...program, stopsAtOperand: true });
  if (options.unknown.length > 0)
    report(scope, "high", "opaque_exec", `env has an unknown option ${options.unknown[0]}.`);
  for (const directory of options.get("C", "chdir"))
    scope.interpreter.runCommand([{ text: "cd", origin: 0 }, directory], scope);
  const [split] = options.get("S", "split-string");
  if (split) return runCode(joinWords([split, ...options.operands]), [], scope);
  const words = skipAssignments(options.operands, scope);
  if (words.length === 0) return [unknown(origins.secret)];
  return scope.interpreter.runCommand(words, deepen(scope));
}

/** Programs whose arguments are lines of code for a shell. */
export const runLines: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  for (const code of options.getAll(program.code).slice(0, 8)) runCode(code, [], scope);
  if (program.lines === "line") return runCode(joinWords(options.operands), [], scope);
  if (program.lines === "lines") for (const code of options.operands.slice(0, 16)) runCode(code, [], scope);
  return undefined;
};
