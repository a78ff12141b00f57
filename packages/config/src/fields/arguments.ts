/**
 * Checks the arguments that a program passes to public functions: an error names the argument, before anything is done.
 */
import { isRecord } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import type { Field, FieldProblem, Fields, OptionalField } from "./field.ts";
import { object, optional, scalar } from "./kinds.ts";
import { formatFieldProblem, type ProblemWords } from "./problem.ts";

/**
 * Returns a function that takes arguments by their names, and throws `invalid_input` with a sentence about the first that is
 * wrong. One that is not passed to it is not checked.
 */
export const createCheck =
  <F extends Fields>(fields: F) =>
  (values: Partial<Record<keyof F, unknown>>): void => {
    const entries = Object.entries(fields).filter(([name]) => Object.hasOwn(values, name));
    refuseProblems(object(Object.fromEntries(entries)), values);
  };

export function refuseProblems(field: Field<unknown>, value: unknown, words?: ProblemWords): void {
  const problems: FieldProblem[] = [];
  field.read(value, { path: [], report: (problem) => problems.push(problem) });
  const [first] = problems;
  if (first) throw new HarnessError("invalid_input", formatFieldProblem(first, { field: "parameter", ...words }));
}

/** Makes a field optional: undefined or missing. Null is refused, because not every part can be null. */
export const param = <T>(field: Field<T>): OptionalField<T> => ({ ...optional(field), nullable: true });

/** A value that is no JSON. */
export const check = (expected: string, accepts: (value: unknown) => boolean): Field<unknown> =>
  scalar({ expected, type: expected, schema: {}, accepts: (value): value is unknown => accepts(value) });

export const isFunction = (value: unknown): boolean => typeof value === "function";

export const fn = check("a function", isFunction);

/** Whether a value of any class has the methods: a program may pass a part of its own. */
export const hasMethods = (value: unknown, ...names: string[]): boolean =>
  isRecord(value) && names.every((name) => isFunction(value[name]));

export const withMethods = (expected: string, ...names: string[]): Field<unknown> =>
  check(expected, (value) => hasMethods(value, ...names));
