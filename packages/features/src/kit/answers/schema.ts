/** Schemas of answers: what they look like for a model, and whether a value fits. */
import type { JsonSchema, TSchema } from "@tau/ai";
import { findSchemaProblems, type StandardSchema } from "@tau/ai/internal";
import type { FanoutSchema } from "./contract.ts";

type SchemaKind =
  | { kind: "standard"; standard: StandardSchema }
  | { kind: "parser"; parse: (value: unknown) => unknown }
  | { kind: "json"; schema: TSchema | JsonSchema };

function classifySchema(schema: FanoutSchema): SchemaKind {
  const { "~standard": standard, parse } = schema as { "~standard"?: StandardSchema; parse?: unknown };
  if (standard) return { kind: "standard", standard };
  if (typeof parse === "function") return { kind: "parser", parse: (value) => parse.call(schema, value) as unknown };
  return { kind: "json", schema: schema as TSchema | JsonSchema };
}

/** The schema as JSON Schema for a model; undefined if it cannot say what it looks like. */
export function describeSchema(schema: FanoutSchema): string | undefined {
  const known = classifySchema(schema);
  if (known.kind === "parser") return undefined;
  try {
    const described =
      known.kind === "json" ? known.schema : known.standard.jsonSchema?.input({ target: "draft-2020-12" });
    return described === undefined ? undefined : JSON.stringify(described);
  } catch {
    // Such as a transformation of zod, which has no JSON Schema. The child is then corrected by what validation reports.
    return undefined;
  }
}

export type SchemaCheck =
  | { readonly kind: "fits"; readonly value: unknown }
  | { readonly kind: "unfit"; readonly problem: string };

const maxIssues = 20;

/** Checks a value without correcting it. Rejects if the schema itself throws. */
export async function checkSchema(schema: FanoutSchema, value: unknown): Promise<SchemaCheck> {
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
