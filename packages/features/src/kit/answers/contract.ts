/** Schemas of answers, and what checks them. */
import type { JsonSchema, TSchema } from "@tau/ai";

/** A Standard Schema, such as one of zod. `T` is the type of valid values. */
export interface StandardSchemaOf<T> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardSchemaResult<T> | PromiseLike<StandardSchemaResult<T>>;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
  };
}

type StandardSchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

/** A schema of an answer: any Standard Schema (such as zod), an object with `parse`, TypeBox, or plain JSON Schema. */
export type FanoutSchema<T = unknown> = StandardSchemaOf<T> | { parse(value: unknown): T } | TSchema | JsonSchema;

/** Reads the value of an answer. Throws if the answer does not fit. */
export interface Validator {
  parse(text: string, schema: FanoutSchema): unknown;
}
