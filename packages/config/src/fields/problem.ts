/** Says what is wrong with a value, in words. Pure. */
import { assertNever, didYouMean } from "@tau/ai/internal";
import type { FieldProblem, Path } from "./field.ts";

export interface ProblemWords {
  /** The subject of a sentence about the value as a whole. Default "The value". */
  whole?: string;
  /** The noun for a field whose name is unknown. Default "field". */
  field?: string;
  /** Whether strings and numbers may be repeated. False where they may be secrets. Default true. */
  showValues?: boolean;
}

/** A sentence that names the field and says what it has to be; and a hint where a name or a choice is close. */
export function formatFieldProblem(problem: FieldProblem, words: ProblemWords = {}): string {
  const { whole = "The value", field = "field", showValues = true } = words;
  const name = problem.path.length === 0 ? whole : quotePath(problem.path);
  switch (problem.kind) {
    case "wrong_value": {
      const { value, expected } = problem;
      const needed = typeof expected === "string" ? expected : quoteEach(expected);
      const hint = typeof value === "string" && typeof expected !== "string" ? didYouMean(value, expected) : "";
      return `${name} has to be ${needed}, ${describeOther(value, showValues)}.${hint}`;
    }
    case "unknown_field":
      return `There is no ${field} ${name}.${didYouMean(String(problem.path.at(-1)), problem.names)}`;
    case "other":
      return `${name} ${problem.predicate}`;
    default:
      return assertNever(problem);
  }
}

/** Formats a path as people write it: `providers.ollama.models[0].id`. A name that would be ambiguous is in brackets. */
export const formatPath = (path: Path): string =>
  path.reduce<string>((key, step) => {
    if (typeof step === "number") return `${key}[${step}]`;
    if (!/^[^\s.[\]'"]+$/.test(step)) return `${key}['${step}']`;
    return key === "" ? step : `${key}.${step}`;
  }, "");

const quotePath = (path: Path): string => `"${formatPath(path)}"`;

/** `"a", "b", or "c"`. */
const quoteEach = (choices: readonly string[]): string =>
  new Intl.ListFormat("en", { type: "disjunction" }).format(choices.map((choice) => JSON.stringify(choice)));

const maxShownLength = 40;

function describeOther(value: unknown, showValues: boolean): string {
  if (value === undefined) return "and is missing";
  if (Array.isArray(value)) return "not a list";
  if (typeof value === "object" && value !== null) return "not an object";
  const isHidden = !showValues && value !== "" && (typeof value === "string" || typeof value === "number");
  if (isHidden) return `not this ${typeof value}`;
  if (typeof value !== "string") return `not ${String(value)}`;
  return `not ${value.length > maxShownLength ? `a string of ${value.length} characters` : JSON.stringify(value)}`;
}
