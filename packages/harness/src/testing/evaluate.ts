/** Runs an agent over cases and scores what it answers, offline with a scripted model or with a real one. */
import { type Clock, systemClock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";

export interface EvaluationCase<Input, Expected = unknown> {
  /** For the table. Default: its number, counted from 1. */
  name?: string;
  input: Input;
  /** Passed to the scorers. */
  expected?: Expected;
}

/** An answer with what it was given for, as scorers get it. */
export interface Scored<Input, Output, Expected> {
  readonly input: Input;
  readonly output: Output;
  readonly expected: Expected | undefined;
}

/** Scores an answer from 0 to 1; true is 1, false is 0. */
export type Scorer<Input, Output, Expected> = (
  scored: Scored<Input, Output, Expected>,
) => number | boolean | Promise<number | boolean>;

export interface EvaluateOptions {
  /** How many cases run at the same time. Default 1, so that a scripted model answers in the order of the cases. */
  concurrency?: number;
  /** Ends the evaluation: cases that have not begun fail. */
  signal?: AbortSignal;
  clock?: Clock;
}

export interface EvaluatedCase<Output> {
  readonly name: string;
  /** Absent if the case failed. */
  readonly output?: Output;
  /** Why the case failed, or a scorer of it. */
  readonly error?: string;
  /** By the name of the scorer. All are 0 if the case failed. */
  readonly scores: Readonly<Record<string, number>>;
  readonly durationMs: number;
}

/** Plain data, so `JSON.stringify` writes it. */
export interface Evaluation<Output> {
  /** In the order in which they were given. */
  readonly cases: readonly EvaluatedCase<Output>[];
  /** The mean of each scorer over all cases. */
  readonly means: Readonly<Record<string, number>>;
  /** How many cases failed. */
  readonly failed: number;
}

/**
 * Calls `run` with the input of each case, and every scorer with what it returns. A case whose `run` rejects has failed, and the others go
 * on. Rejects with `invalid_input` if there is no case or no scorer.
 */
export async function evaluate<Input, Output, Expected = unknown>(
  cases: readonly EvaluationCase<Input, Expected>[],
  run: (input: Input, context: { name: string; signal: AbortSignal }) => Output | Promise<Output>,
  scorers: Readonly<Record<string, Scorer<Input, Output, Expected>>>,
  { concurrency = 1, signal = new AbortController().signal, clock = systemClock }: EvaluateOptions = {},
): Promise<Evaluation<Output>> {
  const names = Object.keys(scorers);
  if (cases.length === 0 || names.length === 0)
    throw new HarnessError("invalid_input", "An evaluation needs a case and a scorer at least.");
  const results: EvaluatedCase<Output>[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < cases.length; index = next++) {
      const one = cases[index]!;
      const name = one.name ?? String(index + 1);
      const started = clock.monotonic();
      const finish = (rest: Omit<EvaluatedCase<Output>, "name" | "durationMs">) =>
        void (results[index] = { name, ...rest, durationMs: clock.monotonic() - started });
      try {
        signal.throwIfAborted();
        const output = await run(one.input, { name, signal });
        finish({ output, ...(await score(scorers, { input: one.input, output, expected: one.expected })) });
      } catch (error) {
        finish({ error: getErrorMessage(error), scores: Object.fromEntries(names.map((scorer) => [scorer, 0])) });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, cases.length)) }, work));
  const mean = (name: string) => results.reduce((sum, { scores }) => sum + scores[name]!, 0) / results.length;
  return {
    cases: results,
    means: Object.fromEntries(names.map((name) => [name, mean(name)])),
    failed: results.filter(({ error }) => error !== undefined).length,
  };
}

/** A scorer that throws, or returns no score, gives 0, and the case has its error. */
async function score<Input, Output, Expected>(
  scorers: Readonly<Record<string, Scorer<Input, Output, Expected>>>,
  scored: Scored<Input, Output, Expected>,
): Promise<Pick<EvaluatedCase<Output>, "scores" | "error">> {
  const scores: Record<string, number> = {};
  let error: string | undefined;
  for (const [name, scorer] of Object.entries(scorers)) {
    try {
      const value = Number(await scorer(scored));
      if (!(value >= 0 && value <= 1)) throw new HarnessError("invalid_input", `It returned no number from 0 to 1.`);
      scores[name] = value;
    } catch (cause) {
      scores[name] = 0;
      error ??= `The scorer ${name} failed: ${getErrorMessage(cause)}`;
    }
  }
  return { scores, ...(error !== undefined && { error }) };
}

const maxNameLength = 40;

/** Formats an evaluation as a table for people: a row for each case, one for the means, and what went wrong. */
export function formatEvaluation({ cases, means, failed }: Evaluation<unknown>): string {
  const scorers = Object.keys(means);
  const formatScore = (value: number) => value.toFixed(2);
  const rows = [
    ["case", ...scorers, "ms"],
    ...cases.map(({ name, scores, durationMs }) => [
      toLine(name),
      ...scorers.map((scorer) => formatScore(scores[scorer]!)),
      String(Math.round(durationMs)),
    ]),
    ["mean", ...scorers.map((scorer) => formatScore(means[scorer]!)), ""],
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join("  ")
      .trimEnd(),
  );
  const errors = cases.flatMap(({ name, error }) => (error === undefined ? [] : [`${toLine(name)}: ${error}`]));
  return [...lines, ...(failed > 0 ? ["", `${failed} of ${cases.length} failed:`, ...errors] : [])].join("\n");
}

const toLine = (name: string): string => {
  const line = name.replaceAll(/\s+/g, " ");
  return line.length > maxNameLength ? `${line.slice(0, maxNameLength - 1)}…` : line;
};
