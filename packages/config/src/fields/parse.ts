/** Checks values that come from a program, such as the parameters of a command: all of them are right, or none applies. */
import type { FieldProblem, Fields, FieldValues } from "./field.ts";
import { object } from "./kinds.ts";
import { formatFieldProblem } from "./problem.ts";

export type ParsedFields<F extends Fields> =
  | { readonly kind: "parsed"; readonly values: FieldValues<F> }
  /** Describes the first error in one sentence. */
  | { readonly kind: "wrong"; readonly message: string };

interface ParseOptions {
  /** Whether fields that are not described are refused. Default: ignored, because a later version of a client may send more. */
  isClosed?: boolean;
}

export function parseFields<F extends Fields>(
  fields: F,
  value: unknown,
  { isClosed = false }: ParseOptions = {},
): ParsedFields<F> {
  const problems: FieldProblem[] = [];
  const values = object(fields).read(value, { path: [], report: (problem) => problems.push(problem) });
  const wrong = problems.find(({ kind }) => isClosed || kind !== "unknown_field");
  if (wrong) return { kind: "wrong", message: formatFieldProblem(wrong) };
  return { kind: "parsed", values: values! };
}
