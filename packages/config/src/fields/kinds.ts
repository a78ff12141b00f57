/** The kinds of fields. Pure. */
import { type ImageContent } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import type {
  Field,
  FieldProblem,
  Fields,
  FieldValues,
  JsonSchema,
  OptionalField,
  Path,
  ReadContext,
} from "./field.ts";

interface Scalar<T> {
  /** A description, or all values that are accepted. */
  expected: string | readonly string[];
  type: string;
  schema: JsonSchema;
  accepts: (value: unknown) => value is T;
}

/** A value without parts, which is accepted as it is. */
export function scalar<T>({ expected, type, schema, accepts }: Scalar<T>): Field<T> {
  const read = (value: unknown, { path, report }: ReadContext): T | undefined => {
    if (accepts(value)) return value;
    report({ kind: "wrong_value", path, value, expected });
    return undefined;
  };
  return { type, schema, read };
}

/** Any string, also an empty one. */
export const text = scalar({
  expected: "a string",
  type: "string",
  schema: { type: "string" },
  accepts: (value) => typeof value === "string",
});

/** A string with more in it than white space. */
export const nonEmptyText = scalar({
  expected: "a string that is not empty",
  type: "string",
  schema: { type: "string", pattern: "\\S" },
  accepts: (value): value is string => typeof value === "string" && value.trim() !== "",
});

/** An address for requests. It may have `{NAME}` in it, which the environment fills. */
export const url = scalar({
  expected: "an address that begins with http:// or https://",
  type: "string",
  schema: { type: "string", pattern: "^https?://" },
  accepts: (value): value is string => {
    if (typeof value !== "string") return false;
    const filled = value.replace(/\{[A-Za-z_][A-Za-z0-9_]*\}/g, "x");
    return /^https?:\/\//i.test(filled) && URL.canParse(filled);
  },
});

export const flag = scalar({
  expected: "true or false",
  type: "boolean",
  schema: { type: "boolean" },
  accepts: (value) => typeof value === "boolean",
});

interface NumberOptions {
  min: number;
  /** The unit that is counted, for people, such as `tokens`. */
  unit: string;
}

export const wholeNumber = ({ min, unit }: NumberOptions): Field<number> =>
  scalar({
    expected: `a whole number of ${unit}, ${min} or more`,
    type: "number",
    schema: { type: "integer", minimum: min, maximum: Number.MAX_SAFE_INTEGER },
    accepts: (value): value is number => Number.isSafeInteger(value) && Number(value) >= min,
  });

export const between = (min: number, max: number, unit: string): Field<number> =>
  scalar({
    expected: `a whole number of ${unit} from ${min} to ${max}`,
    type: "number",
    schema: { type: "integer", minimum: min, maximum: max },
    accepts: (value): value is number => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
  });

/** A number that may have a fraction, such as an amount of money. */
export const decimal = ({ min, unit }: NumberOptions): Field<number> =>
  scalar({
    expected: `a number of ${unit}, ${min} or more`,
    type: "number",
    schema: { type: "number", minimum: min },
    accepts: (value): value is number => typeof value === "number" && Number.isFinite(value) && value >= min,
  });

export const oneOf = <const T extends string>(...choices: readonly T[]): Field<T> =>
  scalar({
    expected: choices,
    type: choices.map((choice) => JSON.stringify(choice)).join(" | "),
    schema: { enum: choices },
    accepts: (value): value is T => choices.some((choice) => choice === value),
  });

/** `data` is base64. */
export const image: Field<ImageContent> = object({ type: oneOf("image"), data: text, mimeType: text });

/** Any JSON value, as it is; null is a value too. */
export const anyJson: Field<unknown> = { type: "unknown", schema: {}, nullable: true, read: (value) => value };

/** Any object of JSON, as it is. */
export const jsonObject = scalar({
  expected: "an object",
  type: "object",
  schema: { type: "object" },
  accepts: isRecord,
});

/** An item that cannot be used is left out of the list. */
export function list<T>(item: Field<T>): Field<T[]> {
  const expected = "a list";
  return {
    type: `${item.type.includes(" ") ? `(${item.type})` : item.type}[]`,
    schema: { type: "array", items: item.schema },
    read(value, { path, report }) {
      if (Array.isArray(value))
        return value.flatMap((each: unknown, index) => {
          const read = item.read(each, { path: [...path, index], report });
          return read === undefined ? [] : [read];
        });
      report({ kind: "wrong_value", path, value, expected });
      return undefined;
    },
  };
}

interface MapOptions {
  /** The predicate to report about a name that is not valid. Default: every name is valid. */
  refuseName?: (name: string) => string | undefined;
}

/** Values by names that are not known in advance. A value that cannot be used is left out. */
export function map<T>(item: Field<T>, { refuseName = () => undefined }: MapOptions = {}): Field<Map<string, T>> {
  const expected = "an object with values by name";
  return {
    type: `Record<string, ${item.type}>`,
    schema: { type: "object", additionalProperties: item.schema },
    read(value, { path, report }) {
      if (!isRecord(value)) {
        report({ kind: "wrong_value", path, value, expected });
        return undefined;
      }
      const values = new Map<string, T>();
      for (const [name, each] of Object.entries(value)) {
        const inner: ReadContext = { path: [...path, name], report };
        const predicate = refuseName(name);
        if (predicate !== undefined) report({ kind: "other", path: inner.path, predicate });
        const read = predicate === undefined ? item.read(each, inner) : undefined;
        if (read !== undefined) values.set(name, read);
      }
      return values;
    },
  };
}

interface ObjectOptions {
  /** Names that are known but not read, each with the predicate to report. Nothing is reported for "". */
  unused?: Readonly<Record<string, string>>;
}

/** An object with these fields. It cannot be used if one that is not optional is missing or wrong. */
export function object<F extends Fields>(fields: F, { unused = {} }: ObjectOptions = {}): Field<FieldValues<F>> {
  const expected = "an object";
  const names = Object.keys(fields);
  const required = names.filter((name) => !fields[name]!.optional);
  const properties = Object.fromEntries(names.map((name) => [name, fields[name]!.schema]));
  return {
    type: `{ ${names.join(", ")} }`,
    schema: { type: "object", additionalProperties: false, properties, ...(required.length > 0 && { required }) },
    read(value, { path, report }) {
      if (!isRecord(value)) {
        report({ kind: "wrong_value", path, value, expected });
        return undefined;
      }
      const missing = required.filter((name) => !Object.hasOwn(value, name)).map((name) => [name, undefined] as const);
      const values = new Map<string, unknown>();
      for (const [name, each] of [...Object.entries(value), ...missing]) {
        const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
        const inner: ReadContext = { path: [...path, name], report };
        if (!field) reportUnknown(name, inner);
        else if (!isLeftOut(field, each)) values.set(name, field.read(each, inner));
      }
      if (required.some((name) => values.get(name) === undefined)) return undefined;
      return Object.fromEntries([...values].filter(([, read]) => read !== undefined)) as FieldValues<F>;
    },
  };

  function reportUnknown(name: string, { path, report }: ReadContext): void {
    const predicate = Object.hasOwn(unused, name) ? unused[name] : undefined;
    if (predicate === undefined) report({ kind: "unknown_field", path, names });
    else if (predicate !== "") report({ kind: "other", path, predicate });
  }
}

const isLeftOut = ({ optional, nullable }: Field<unknown>, value: unknown): boolean =>
  optional === true && (value === undefined || (value === null && nullable !== true));

/** Another value made of each valid one. */
export const transform = <T, U>(field: Field<T>, change: (value: T, path: Path) => U): Field<U> => ({
  ...field,
  read(value, context) {
    const read = field.read(value, context);
    return read === undefined ? undefined : change(read, context.path);
  },
});

/** May be left out of its object. Null stands for that too, as not every language can leave something out. */
export const optional = <T>(field: Field<T>): OptionalField<T> => ({ ...field, optional: true });

/** Or null, which means something other than that the field is left out. */
export const nullable = <T>(field: Field<T>): Field<T | null> => ({
  type: `${field.type} | null`,
  schema: { anyOf: [field.schema, { type: "null" }] },
  nullable: true,
  read(value, { path, report }) {
    if (value === null) return null;
    const reportOrNull = (problem: FieldProblem) =>
      report(
        problem.kind === "wrong_value" && problem.path === path
          ? { ...problem, expected: `${problem.expected}, or null` }
          : problem,
      );
    return field.read(value, { path, report: reportOrNull });
  },
});
