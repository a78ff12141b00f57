/** Schemas of what a model answers, or a tool returns: what they look like for a model, and whether a value fits. */
import type { JsonSchema } from "../context.ts";
import type { StandardSchema } from "../schema/adapt.ts";
import { findSchemaFault } from "../schema/check-schema.ts";
import type { SchemaType } from "../schema/schema-type.ts";
import { findSchemaProblems } from "../validate.ts";

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

/** Any Standard Schema (such as zod, valibot or arktype), an object with `parse`, TypeBox, or plain JSON Schema. */
export type OutputSchema<T = unknown> = StandardSchemaOf<T> | { parse(value: unknown): T } | object;

/** The type of valid values. For a schema without a static type it is `unknown`. */
export type OutputOf<Schema> =
  Schema extends StandardSchemaOf<infer Value>
    ? Value
    : Schema extends { parse(value: unknown): infer Value }
      ? Value
      : SchemaType<Schema>;

type SchemaKind =
  | { kind: "standard"; standard: StandardSchema }
  | { kind: "parser"; parse: (value: unknown) => unknown }
  | { kind: "json"; schema: object };

function classifySchema(schema: OutputSchema): SchemaKind {
  const { "~standard": standard, parse } = schema as { "~standard"?: StandardSchema; parse?: unknown };
  if (standard) return { kind: "standard", standard };
  if (typeof parse === "function") return { kind: "parser", parse: (value) => parse.call(schema, value) as unknown };
  return { kind: "json", schema };
}

/** The schema as JSON Schema; undefined if it cannot say what it looks like. */
export function describeOutput(schema: OutputSchema): JsonSchema | undefined {
  const known = classifySchema(schema);
  if (known.kind === "parser") return undefined;
  try {
    // The round trip through JSON removes TypeBox's own hidden properties.
    return known.kind === "json"
      ? (JSON.parse(JSON.stringify(known.schema)) as JsonSchema)
      : known.standard.jsonSchema?.input({ target: "draft-2020-12" });
  } catch {
    // Such as a transformation of zod, which has no JSON Schema. Who answers is then corrected by what validation reports.
    return undefined;
  }
}

/**
 * Returns why no answer can be checked against the schema, as a sentence; undefined if one can. A Standard Schema and an object
 * with `parse` are trusted.
 */
export function findOutputFault(schema: OutputSchema): string | undefined {
  if (typeof schema !== "object" && typeof schema !== "function") return findSchemaFault(schema);
  return classifySchema(schema).kind === "json" ? findSchemaFault(describeOutput(schema)) : undefined;
}

export type OutputCheck =
  | { readonly kind: "fits"; readonly value: unknown }
  | { readonly kind: "unfit"; readonly problem: string };

const maxIssues = 20;

/** Checks a value without correcting it. Rejects if the schema itself throws. */
export async function checkOutput(schema: OutputSchema, value: unknown): Promise<OutputCheck> {
  const known = classifySchema(schema);
  switch (known.kind) {
    case "standard": {
      const result = await known.standard.validate(value);
      if (!result.issues) return { kind: "fits", value: result.value };
      return { kind: "unfit", problem: result.issues.slice(0, maxIssues).map(formatIssue).join("; ") };
    }
    case "parser":
      return { kind: "fits", value: await known.parse(value) };
    case "json": {
      const problems = findSchemaProblems("answer", known.schema, value);
      return problems.length === 0 ? { kind: "fits", value } : { kind: "unfit", problem: problems.join("; ") };
    }
  }
}

type Issue = { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined };

const formatIssue = ({ path = [], message }: Issue): string => {
  const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
  return `${keys.length > 0 ? keys.join(".") : "(answer)"}: ${message}`;
};
