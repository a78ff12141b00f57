/** A tool's parameters as they go over the wire. */
import { type JsonSchema, type ToolParameters } from "@tau/ai";
import { getErrorMessage, isRecord, isToolParameters, oncePer, type StandardSchema } from "@tau/ai/internal";

type WireSchema =
  | { kind: "schema"; schema: JsonSchema; json: string }
  /** It cannot be sent. `reason` is a whole sentence. */
  | { kind: "inexpressible"; reason: string };

/** The parameters of a tool as plain JSON Schema. Cached by identity: changed parameters must be a new object. */
export function wireSchema(parameters: ToolParameters | undefined): WireSchema {
  return isToolParameters(parameters) ? describe(parameters) : inexpressible("It has no schema for its parameters.");
}

const describe = oncePer((parameters: ToolParameters): WireSchema => {
  try {
    const standard = (parameters as { "~standard"?: StandardSchema })["~standard"];
    const described = standard ? standard.jsonSchema?.input({ target: "draft-2020-12" }) : parameters;
    if (described === undefined) {
      return inexpressible(`Its ${standard?.vendor} schema does not say what it looks like as JSON Schema.`);
    }
    // Through JSON and back, because schemas of libraries have fields of their own that are not sent.
    const json = JSON.stringify(described) ?? "null";
    const schema: unknown = JSON.parse(json);
    return isRecord(schema) ? { kind: "schema", schema, json } : inexpressible("Its parameters are no JSON Schema.");
  } catch (error) {
    // Schemas of others may run code of their own or contain themselves.
    return inexpressible(`Its parameters cannot be written as JSON: ${getErrorMessage(error)}`);
  }
});

const inexpressible = (reason: string): WireSchema => ({ kind: "inexpressible", reason });
