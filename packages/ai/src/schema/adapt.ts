import type { JsonSchema, ToolParameters } from "../context.ts";
import { AiError } from "../errors.ts";
import { oncePer } from "../internal/once.ts";

/**
 * Plain JSON Schema from whatever a tool declares: a TypeBox schema or JSON Schema as it is, a Standard Schema by
 * asking it. The result is cached by identity and must not be changed.
 */
export const toJsonSchema: (parameters: ToolParameters) => JsonSchema = oncePer(
  (parameters: ToolParameters): JsonSchema => {
    const standard = (parameters as { "~standard"?: StandardSchema })["~standard"];
    // A round trip leaves only what goes over the wire: TypeBox keeps its own facts in hidden properties.
    if (!standard) return JSON.parse(JSON.stringify(parameters)) as JsonSchema;
    const schema = standard.jsonSchema?.input({ target: "draft-2020-12" });
    if (schema) return schema;
    throw new AiError("invalid_schema", `A ${standard.vendor} schema does not say what it looks like as JSON Schema.`);
  },
);

/** The part of the Standard Schema specification that is used here. */
interface StandardSchema {
  vendor: string;
  jsonSchema?: { input: (options: { target: string }) => JsonSchema };
}
