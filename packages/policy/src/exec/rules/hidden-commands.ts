/** Commands behind a program that nothing is known about. */
import { baseName } from "../paths.ts";
import { isProgram } from "../programs/index.ts";
import type { Invocation } from "./invocation.ts";
import { AnalysisLimitError, deepen, type Scope } from "../shell/analysis.ts";
import type { Text } from "../shell/text.ts";

const maxCommands = 32;

/**
 * A program without rules may run what its arguments name, as `nocache rm -rf /` does. They need not mean that, so only what
 * is never right is reported.
 */
export function judgeHiddenCommands({ name, args }: Invocation, mayRun: (name: string) => boolean, scope: Scope): void {
  if (isProgram(name, "takesText") || isPolicyCheck(name, args)) return;
  let count = 0;
  for (let start = 0; start < args.length; start++) {
    const isCommand = start < args.length - 1 && mayRun(baseName(args[start]!.text));
    const code = findCode(args, start, mayRun);
    if (!isCommand && !code) continue;
    if (++count > maxCommands) throw new AnalysisLimitError("The command has too many parts.");
    // `composer exec rm -- -rf DIR`: the dashes may be those of the program in front.
    const rest = args[start + 1]?.text === "--" ? args.slice(start + 2) : args.slice(start + 1);
    if (isCommand) judgeHidden(scope, (inner) => scope.interpreter.runCommand([args[start]!, ...rest], inner));
    if (code) judgeHidden(scope, (inner) => scope.interpreter.runText(code, inner));
  }
}

/** `tau policy check 'rm -rf /'` only says what would be decided. */
const isPolicyCheck = (name: string, args: readonly Text[]) => name === "tau" && args[0]?.text === "policy";

/** `--run CODE`, `--on-success=CODE`, `-c CODE`: options by whose names a line of code is to be expected. */
const codeOption =
  /^(--?(?:(?:[a-z-]*-)?(?:run|exec|execute|cmd|command|shell|hook|wrap)|on-?[a-z]+|[cex]))(?:=(.*))?$/is;

function findCode(args: readonly Text[], index: number, mayRun: (name: string) => boolean): Text | undefined {
  const arg = args[index]!;
  const match = codeOption.exec(arg.text);
  // An argument may be a whole line. What follows another option is mostly text, such as a message.
  const isLine = !match && !args[index - 1]?.text.startsWith("-");
  if (!match && !isLine) return undefined;
  const value = !match ? arg : match[2] === undefined ? args[index + 1] : { ...arg, text: match[2] };
  const [program, ...rest] = value?.text.trim().split(/\s+/) ?? [];
  return program !== undefined && rest.length > 0 && mayRun(baseName(program)) ? value : undefined;
}

/** `op run -- CMD`: whatever a program does otherwise, what follows the dashes may be a command. */
export function judgeBehindDashes({ args }: Invocation, mayRun: (name: string) => boolean, scope: Scope): void {
  const start = args.findIndex(({ text }) => text === "--") + 1;
  if (start > 0 && start < args.length - 1 && mayRun(baseName(args[start]!.text)))
    judgeHidden(scope, (inner) => scope.interpreter.runCommand(args.slice(start), inner));
}

function judgeHidden(scope: Scope, run: (inner: Scope) => void): void {
  const analysis = scope.analysis.createInner();
  run(deepen(scope, { analysis, state: scope.state.clone() }));
  for (const finding of analysis.findings)
    if (finding.tier === "critical" && finding.class !== "credential_change" && finding.class !== "shutdown")
      scope.analysis.report({ ...finding, command: scope.command });
}
