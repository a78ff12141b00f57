/** The contract of a field: it checks an unknown value, and can describe itself to people and to editors. */

/** Names of fields and indexes of lists, from the outermost to the value. */
export type Path = readonly (string | number)[];

export type JsonSchema = Readonly<Record<string, unknown>>;

export type FieldProblem = { readonly path: Path } & (
  | {
      readonly kind: "wrong_value";
      /** Undefined if it is missing. */
      readonly value: unknown;
      /** Completes "It has to be …", or all strings that it can be. */
      readonly expected: string | readonly string[];
    }
  /** `names` are those that exist. */
  | { readonly kind: "unknown_field"; readonly names: readonly string[] }
  /** `predicate` completes a sentence that begins with the name, and has its full stop. */
  | { readonly kind: "other"; readonly predicate: string }
);

export interface ReadContext {
  readonly path: Path;
  report(problem: FieldProblem): void;
}

export interface Field<T> {
  /** The TypeScript type, for a table. */
  readonly type: string;
  readonly schema: JsonSchema;
  /** Whether null is one of its values. Default false. */
  readonly nullable?: boolean;
  /** Whether it may be left out. Default false. */
  readonly optional?: boolean;
  /**
   * The typed value, which shares no list or object with `value` except in `jsonObject`. Undefined if the value cannot be
   * used, which has been reported then. A problem of an optional field or of an item costs only that field or item: what
   * comes back may be usable although problems were reported.
   */
  read(value: unknown, context: ReadContext): T | undefined;
}

export interface OptionalField<T> extends Field<T> {
  readonly optional: true;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

type FieldValue<F> = F extends Field<infer T> ? T : never;

type OptionalNames<F extends Fields> = {
  [Name in keyof F]: F[Name] extends OptionalField<unknown> ? Name : never;
}[keyof F];

/** The type of an object with these fields. */
export type FieldValues<F extends Fields> = {
  -readonly [Name in Exclude<keyof F, OptionalNames<F>>]: FieldValue<F[Name]>;
} & { -readonly [Name in OptionalNames<F>]?: FieldValue<F[Name]> };
