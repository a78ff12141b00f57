/** The state of one analysis, and the scope in which a part of the script is walked. */
import type { ParsedScript } from "unbash";
import type { ExecContext, ExecFinding } from "../classification.ts";
import type { DangerousCommandClass } from "../dangerous-class.ts";
import type { ShellState } from "./state.ts";
import { toShown, type Options, type Text } from "./text.ts";

/** Thrown when a script is too large to analyse; `classifyCommand` turns it into a denial. */
export class AnalysisLimitError extends Error {}

/**
 * Counts the work of one classification, so that no text takes long: a step is about one command with a few short words.
 * Throws `AnalysisLimitError` once `maxSteps` are spent.
 */
export class StepBudget {
  static readonly maxSteps = 2_000;
  #spent = 0;

  get spent(): number {
    return this.#spent;
  }

  spend(steps: number): void {
    this.#spent += steps;
    if (this.#spent > StepBudget.maxSteps) throw new AnalysisLimitError("The command has too many parts.");
  }
}

/** Rules try many patterns on each text, so its length costs steps too. */
const charactersOfStep = 512;
const maxDepth = 48;

/** Walks code. A port, since expansions and programs run code and code has expansions and programs. */
export interface Interpreter {
  /** Each of these returns what the code may print. */
  runScript(script: ParsedScript, scope: Scope): Options<Text>;
  /** Parses shell code and walks it. */
  runText(code: Text, scope: Scope): Options<Text>;
  /** Runs a program, a builtin or a function with its arguments. */
  runCommand(words: readonly Text[], scope: Scope): Options<Text>;
}

export interface Scope {
  readonly analysis: Analysis;
  readonly interpreter: Interpreter;
  readonly state: ShellState;
  readonly stdin: Options<Text>;
  /** Functions that are being called, the innermost last. */
  readonly calls: readonly FunctionCall[];
  /** Where the exits of the innermost loop and function are collected. */
  readonly loop: ShellState[] | undefined;
  /** The pipeline that the command is part of, and how many times it was put into the background. */
  readonly pipeline: object;
  readonly backgrounds: number;
  readonly depth: number;
  /** Index of the command that is being judged; null outside of one. */
  readonly command: number | null;
  /** Whether the command runs with other rights, which is a finding of its own. */
  readonly isPrivileged?: boolean;
}

interface FunctionCall {
  readonly name: string;
  readonly returns: ShellState[];
  /** How often the function calls itself, by pipeline. */
  readonly recursions: Map<object, number>;
  readonly pipeline: object;
  readonly backgrounds: number;
}

export class Analysis {
  readonly context: ExecContext;
  readonly commands: string[][] = [];
  readonly findings: ExecFinding[] = [];
  /** The class of a command whose use is harmless here. */
  harmlessUse: DangerousCommandClass | undefined;
  /** Whether a part of the script is not valid, so that a shell may read it differently. */
  hasSyntaxError = false;
  /** Bodies of functions that were called. */
  readonly calledFunctions = new Set<object>();
  /** Scripts of `>(…)` that have not received their input yet, by path. */
  readonly sinks = new Map<string, ParsedScript>();
  #files = 0;
  #indexes = new Map<string, number>();
  #reported = new Set<string>();

  readonly #budget: StepBudget;

  constructor(context: ExecContext, budget: StepBudget) {
    this.context = context;
    this.#budget = budget;
  }

  /** Spends steps of the classification. */
  step(cost = 1): void {
    this.#budget.spend(cost);
  }

  /** Creates an analysis whose findings are its own and whose work is counted here. */
  createInner(): Analysis {
    return new Analysis(this.context, this.#budget);
  }

  /** Returns the index of the command. The same words are listed once. */
  addCommand(words: readonly Text[]): number {
    const length = words.reduce((sum, { text }) => sum + text.length, 0);
    this.step(1 + words.length / 8 + length / charactersOfStep);
    const command = words.map((word) => toShown(word.text));
    const key = command.join("\0");
    const index = this.#indexes.get(key) ?? this.commands.push(command) - 1;
    this.#indexes.set(key, index);
    return index;
  }

  report(finding: ExecFinding): void {
    const key = `${finding.tier} ${finding.class} ${finding.command} ${finding.reason}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.findings.push({ ...finding, reason: toShown(finding.reason) });
  }

  /** A name for what a process substitution reads or writes. */
  createPipePath(): string {
    return `/dev/fd/${1000 + this.#files++}`;
  }
}

/** Returns the scope one level deeper. */
export function deepen(scope: Scope, changes: Partial<Scope> = {}): Scope {
  if (scope.depth >= maxDepth) throw new AnalysisLimitError("The command is nested too deeply.");
  return { ...scope, depth: scope.depth + 1, ...changes };
}

/** Reports something about the command that is being judged. */
export function report(
  scope: Scope,
  tier: ExecFinding["tier"],
  kind: ExecFinding["class"],
  reason: string,
  details: Pick<ExecFinding, "dangerousCommandClass" | "path"> = {},
): void {
  scope.analysis.report({ tier, class: kind, reason, command: scope.command, ...details });
}

/** Runs something in a process of its own: its variables and its directory end with it, but what it wrote to files stays. */
export function inSubshell<T>(scope: Scope, run: (inner: Scope) => T): T {
  const inner = { ...scope, state: scope.state.clone(), loop: undefined };
  const result = run(inner);
  scope.state.absorb(inner.state);
  return result;
}
