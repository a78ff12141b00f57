import type { JsonSchema, ToolParameters } from "../context.ts";
import { AiError } from "../errors.ts";
import { oncePer } from "../internal/once.ts";

/**
 * The parameters of a tool as plain JSON Schema. A Standard Schema is asked for its JSON Schema. The result is cached by
 * identity and must not be changed.
 */
export const toJsonSchema = oncePer((parameters: ToolParameters): JsonSchema => {
  const standard = getStandardSchema(parameters);
  // The round trip through JSON removes TypeBox's own hidden properties.
  if (!standard) return JSON.parse(JSON.stringify(parameters)) as JsonSchema;
  const schema = standard.jsonSchema?.input({ target: "draft-2020-12" });
  if (schema) return schema;
  throw new AiError(
    "invalid_schema",
    `A ${standard.vendor} schema cannot be converted to JSON Schema: it has no jsonSchema.input.`,
  );
});

/** Keywords whose properties `additionalProperties` does not see: closing such a schema would forbid them. */
const composed = ["$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "unevaluatedProperties"];

/**
 * Adapts a schema for OpenAI's protocols, which want objects to be closed: with `additionalProperties: false` at the top,
 * unless the schema says something else there, and with `properties`. Cached by identity too.
 */
export const toClosedSchema = oncePer((parameters: ToolParameters): JsonSchema => {
  const schema = toJsonSchema(parameters);
  if (schema["type"] !== "object") return schema;
  const isOpen = schema["additionalProperties"] !== undefined || composed.some((keyword) => keyword in schema);
  return { ...schema, properties: schema["properties"] ?? {}, ...(!isOpen && { additionalProperties: false }) };
});

/** The part of the Standard Schema specification that describes a schema. */
export interface StandardSchema {
  vendor: string;
  jsonSchema?: { input: (options: { target: string }) => JsonSchema };
  validate: (value: unknown) => StandardResult | Promise<StandardResult>;
}

type StandardResult = { value: unknown; issues?: undefined } | { issues: readonly StandardIssue[] };

export interface StandardIssue {
  message: string;
  path?: readonly (PropertyKey | { key: PropertyKey })[];
}

/** Whether a value can be the parameters of a tool. Schemas of arktype are functions. */
export const isToolParameters = (value: unknown): value is ToolParameters =>
  typeof value === "function" || (typeof value === "object" && value !== null);

/** The parameters as a Standard Schema; undefined if they are plain JSON Schema. */
export const getStandardSchema = (parameters: ToolParameters): StandardSchema | undefined =>
  (parameters as { "~standard"?: StandardSchema })["~standard"];
