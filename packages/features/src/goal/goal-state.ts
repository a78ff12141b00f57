/** The state of a goal, and what follows a check. Pure. */
import { isRecord } from "@tau/ai/internal";

export interface Goal {
  readonly text: string;
  /** A command whose exit code 0 says that the goal is reached. Undefined: a model judges. */
  readonly check?: string;
  readonly maxRuns: number;
  /** In US dollars, from the time that the goal was set. */
  readonly maxCost: number;
  /** Runs that were checked. */
  readonly runs: number;
  /** The cost of the session when the goal was set. */
  readonly startCost: number;
}

const defaultMaxRuns = 10;
const defaultMaxCost = 5;
const maxTextLength = 4_000;
const maxRunsLimit = 100;

const isRuns = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= maxRunsLimit;
const isBudget = (value: unknown): value is number => typeof value === "number" && value > 0 && Number.isFinite(value);

type GoalCommand =
  | { readonly kind: "show" }
  | { readonly kind: "off" }
  | { readonly kind: "set"; readonly goal: Omit<Goal, "runs" | "startCost"> }
  /** The message is a sentence. */
  | { readonly kind: "invalid"; readonly message: string };

const option = /^--(check|runs|budget)(?:=|\s+)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']\S*)(?=\s|$)\s*/;

/** A limit at the end of the text is meant as one, and would not apply. */
const lateOption = /\s(--(?:runs|budget)(?:=|\s+)[\d.]+)$/;

/** Parses what follows `/goal`. Options come before the text. */
export function parseGoalCommand(args: string): GoalCommand {
  let rest = args.trim();
  if (rest === "") return { kind: "show" };
  if (rest === "off") return { kind: "off" };
  const options = new Map<string, string>();
  for (let match = option.exec(rest); match; match = option.exec(rest)) {
    options.set(match[1]!, unquote(match[2]!));
    rest = rest.slice(match[0].length);
  }
  const invalid = (message: string): GoalCommand => ({ kind: "invalid", message });
  if (/^--\w/.test(rest)) return invalid('The options of /goal are --check "COMMAND", --runs N and --budget USD.');
  const late = options.size === 0 ? lateOption.exec(rest)?.[1] : undefined;
  if (late !== undefined) return invalid(`The options of /goal come before its text: /goal ${late} TEXT.`);
  if (rest === "") return invalid("The goal has no text: /goal TEXT.");
  if (rest.length > maxTextLength) return invalid(`The goal is longer than ${maxTextLength} characters.`);
  const [maxRuns, maxCost] = [
    Number(options.get("runs") ?? defaultMaxRuns),
    Number(options.get("budget") ?? defaultMaxCost),
  ];
  if (!isRuns(maxRuns)) return invalid(`--runs takes a whole number from 1 to ${maxRunsLimit}.`);
  if (!isBudget(maxCost)) return invalid("--budget takes a number of US dollars above 0.");
  const check = options.get("check");
  if (check?.trim() === "") return invalid("--check needs a command.");
  return { kind: "set", goal: { text: rest, maxRuns, maxCost, ...(check !== undefined && { check }) } };
}

function unquote(text: string): string {
  if (text.startsWith("'")) return text.slice(1, -1);
  return text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(["\\$`])/g, "$1") : text;
}

export type Verdict =
  | { readonly kind: "reached" }
  /** `missing` is for the model. */
  | { readonly kind: "open"; readonly missing: string }
  /** There is no verdict. The reason is a sentence. */
  | { readonly kind: "failed"; readonly reason: string };

type NextRun =
  | { readonly kind: "continue"; readonly goal: Goal; readonly message: string }
  /** `message` is for the person. */
  | { readonly kind: "end"; readonly message: string };

/** Decides what follows a run that was checked. `cost` is what the session has cost by now. */
export function decideNextRun(before: Goal, verdict: Verdict, cost: number): NextRun {
  const goal = { ...before, runs: before.runs + 1 };
  const runs = goal.runs === 1 ? "1 run" : `${goal.runs} runs`;
  const end = (message: string): NextRun => ({ kind: "end", message });
  if (verdict.kind === "reached") return end(`The goal is reached after ${runs}.`);
  if (verdict.kind === "failed") return end(`The goal ends, because it could not be checked. ${verdict.reason}`);
  if (goal.runs >= goal.maxRuns) return end(`The goal is not reached after ${runs}, the most that it may take.`);
  if (cost - goal.startCost >= goal.maxCost)
    return end(`The goal is not reached, and its budget of $${goal.maxCost.toFixed(2)} is spent.`);
  const message = `The goal is not reached yet (run ${goal.runs} of ${goal.maxRuns}). Continue until it is.\n\nGoal: ${goal.text}\n\n${verdict.missing}`;
  return { kind: "continue", goal, message };
}

/** A line for the status line. */
export const formatStatus = ({ runs, maxRuns, maxCost, startCost }: Goal, cost: number): string =>
  `goal ${runs}/${maxRuns} · $${Math.max(0, cost - startCost).toFixed(2)} of $${maxCost.toFixed(2)}`;

/**
 * Reads the state that an entry of the log has. Undefined: there is no goal. Somebody else may have written the log, so that nothing
 * beyond the limits of `/goal` is taken. `cost` is what the session has cost by now.
 */
export function readGoal(data: unknown, cost: number): Goal | undefined {
  const { goal } = isRecord(data) ? data : {};
  if (!isRecord(goal)) return undefined;
  const { text, check, maxRuns, maxCost, runs, startCost } = goal;
  if (typeof text !== "string" || typeof runs !== "number" || typeof startCost !== "number") return undefined;
  if (!(runs >= 0 && startCost >= 0)) return undefined;
  if (text.length > maxTextLength || !isRuns(maxRuns) || !isBudget(maxCost)) return undefined;
  if (check !== undefined && typeof check !== "string") return undefined;
  // A fork has cost less than the session that it was made from.
  return { ...(goal as unknown as Goal), startCost: Math.min(startCost, cost) };
}
