/**
 * Finds out what a command line does before it runs. Pure: nothing is read or started. What cannot be analysed is denied.
 */
import { parse, type ParsedScript } from "unbash";
import { type Classification, compareTiers, type ExecContext, type ExecFinding, findWorst } from "./classification.ts";
import { findDangerousClass } from "./find-dangerous-class.ts";
import { runCommand } from "./run-command.ts";
import { type Refusal, refuseText } from "./refuse-text.ts";
import {
  Analysis,
  AnalysisLimitError,
  deepen,
  type Interpreter,
  report,
  type Scope,
  StepBudget,
} from "./shell/analysis.ts";
import { ShellState } from "./shell/state.ts";
import { emptyText, known, unknown, type Options, type Text } from "./shell/text.ts";
import { countNodes, runBody, runScript } from "./shell/walk.ts";

const maxNodes = 2_000;

/** Classifies what `bash -c text` would do. Never throws: a text that spends the whole budget is denied as not known. */
export function classifyCommand(text: string, context: ExecContext, budget = new StepBudget()): Classification {
  const refusal = refuseText(text);
  if (refusal) return classifyRefused(refusal, context, budget);
  return classify(context, budget, (scope) => {
    scope.interpreter.runText(known(text), scope);
    runUncalledFunctions(scope);
  });
}

/** Classifies a program that is started with its arguments, without a shell. Never throws. */
export function classifyArgv(cmd: string, args: readonly string[], context: ExecContext): Classification {
  const words = [cmd, ...args];
  const refusal = words.map(refuseWord).find((result) => result !== undefined);
  if (refusal) return createDenial(refusal, []);
  return classify(context, new StepBudget(), (scope) =>
    scope.interpreter.runCommand(
      words.map((word) => known(word)),
      scope,
    ),
  );
}

/** Words need no quotes, so only what no program expects is refused. */
function refuseWord(word: string): string | undefined {
  if (word.includes("\0") || word.includes(unknown().text)) return "The command has an invisible character.";
  return word.length > 65_536 ? "The command is longer than 65536 bytes." : undefined;
}

function classify(context: ExecContext, budget: StepBudget, run: (scope: Scope) => void): Classification {
  const analysis = new Analysis(context, budget);
  try {
    run(createScope(analysis));
    if (analysis.hasSyntaxError) raiseDangerous(analysis);
  } catch (error) {
    // A classifier that fails must not allow anything.
    const reason = error instanceof AnalysisLimitError ? error.message : "The command could not be analysed.";
    analysis.report({ tier: "critical", class: "opaque_exec", reason, command: null });
  }
  return toClassification(analysis);
}

/** Code that is not valid is denied where even the part that could be read is dangerous. */
function raiseDangerous(analysis: Analysis): void {
  const worst = findWorst(analysis.findings.filter(({ class: kind }) => kind !== "opaque_exec"));
  if (worst && compareTiers(worst.tier, "high") >= 0) analysis.report({ ...worst, tier: "critical", command: null });
}

function toClassification({ findings, commands, harmlessUse }: Analysis): Classification {
  const worst = findWorst(findings);
  return {
    tier: worst?.tier ?? "low",
    class: worst?.class ?? null,
    dangerousCommandClass: findDangerousClass(findings, harmlessUse),
    reason: worst?.reason ?? "",
    commands,
    findings,
  };
}

/** Text that must not run: its class comes from what it would do without the trick. */
function classifyRefused(refusal: Refusal, context: ExecContext, budget: StepBudget): Classification {
  const found =
    refusal.kind === "unreadable" && !refuseText(refusal.cleaned)
      ? classifyCommand(refusal.cleaned, context, budget)
      : undefined;
  const denial = createDenial(refusal.reason, found?.commands ?? []);
  if (!found?.class) return denial;
  const { class: kind, dangerousCommandClass } = found;
  return { ...denial, class: kind, dangerousCommandClass, findings: [...denial.findings, ...found.findings] };
}

function createDenial(reason: string, commands: Classification["commands"]): Classification {
  const finding: ExecFinding = { tier: "critical", class: "opaque_exec", reason, command: null };
  const { tier, class: kind } = finding;
  return { tier, class: kind, dangerousCommandClass: null, reason, commands, findings: [finding] };
}

function createScope(analysis: Analysis): Scope {
  return {
    analysis,
    interpreter,
    state: new ShellState(analysis.context.cwd, analysis.context.readLink),
    stdin: [emptyText],
    calls: [],
    loop: undefined,
    pipeline: {},
    backgrounds: 0,
    depth: 0,
    command: null,
  };
}

const interpreter: Interpreter = { runScript, runText, runCommand };

/** Parses code, also code that is found inside of other code. */
function runText(code: Text, outer: Scope): Options<Text> {
  const scope = deepen(outer, { command: null });
  const refusal = refuseText(code.text.replaceAll(unknown().text, "x"));
  if (refusal?.kind === "too_large") throw new AnalysisLimitError(refusal.reason);
  if (refusal) report(scope, "critical", "opaque_exec", refusal.reason);
  const script = parseScript(refusal ? refusal.cleaned : code.text, scope);
  const output = runScript(script, scope);
  runTraps(scope);
  return output;
}

function parseScript(text: string, scope: Scope): ParsedScript {
  scope.analysis.step(1 + text.length / 256);
  const script = parse(text);
  const count = countNodes(script, maxNodes);
  scope.analysis.step(count / 8);
  if (count > maxNodes) throw new AnalysisLimitError("The command has too many parts.");
  return script;
}

/** Runs the traps with the variables as they are at the end. */
function runTraps(scope: Scope): void {
  const traps = scope.state.traps;
  scope.state.traps = [];
  for (const trap of traps) scope.interpreter.runText(trap, deepen(scope, { state: scope.state.clone() }));
}

/** Functions that nothing calls are judged all the same: with arguments that are not known. */
function runUncalledFunctions(scope: Scope): void {
  for (const body of scope.state.functions.values()) {
    if (scope.analysis.calledFunctions.has(body)) continue;
    const state = scope.state.clone();
    state.positional = [Array.from({ length: 9 }, () => unknown())];
    runBody(body, deepen(scope, { state }));
  }
}
