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

/** The part of the Standard Schema specification that describes a schema. */
export interface StandardSchema {
  vendor: string;
  jsonSchema?: { input: (options: { target: string }) => JsonSchema };
  validate: (value: unknown) => StandardResult | Promise<StandardResult>;
}

export type StandardResult = { value: unknown; issues?: undefined } | { issues: readonly StandardIssue[] };

export interface StandardIssue {
  message: string;
  path?: readonly (PropertyKey | { key: PropertyKey })[];
}

/** The parameters as a Standard Schema; undefined if they are plain JSON Schema. */
export const getStandardSchema = (parameters: ToolParameters): StandardSchema | undefined =>
  (parameters as { "~standard"?: StandardSchema })["~standard"];
