/** A tool's parameters as they go over the wire. */
import { type JsonSchema, getErrorMessage, type ToolParameters, isRecord } from "@tau/ai";

export type WireSchema =
  | { kind: "schema"; schema: JsonSchema; json: string }
  /** It cannot be sent. `reason` is a whole sentence. */
  | { kind: "unsayable"; reason: string };

const known = new WeakMap<object, WireSchema>();

/** Plain JSON Schema from whatever a tool declares, kept by identity: who changes parameters makes a new object. */
export function wireSchema(parameters: ToolParameters | undefined): WireSchema {
  if (typeof parameters !== "object" || parameters === null) return unsayable("It has no schema for its parameters.");
  const before = known.get(parameters);
  if (before) return before;
  const wire = describe(parameters);
  known.set(parameters, wire);
  return wire;
}

function describe(parameters: ToolParameters): WireSchema {
  try {
    const standard = (parameters as { "~standard"?: StandardSchema })["~standard"];
    const described = standard ? standard.jsonSchema?.input({ target: "draft-2020-12" }) : parameters;
    if (described === undefined) {
      return unsayable(`Its ${standard?.vendor} schema does not say what it looks like as JSON Schema.`);
    }
    // A round trip leaves only what is sent: schemas of libraries keep facts of their own beside it.
    const json = JSON.stringify(described) ?? "null";
    const schema: unknown = JSON.parse(json);
    return isRecord(schema) ? { kind: "schema", schema, json } : unsayable("Its parameters are no JSON Schema.");
  } catch (error) {
    // The wall around other people's schemas, which may run code of their own or go round in circles.
    return unsayable(`Its parameters cannot be written as JSON: ${getErrorMessage(error)}`);
  }
}

const unsayable = (reason: string): WireSchema => ({ kind: "unsayable", reason });

/** The part of the Standard Schema specification that is used here. */
interface StandardSchema {
  vendor: string;
  jsonSchema?: { input: (options: { target: string }) => JsonSchema };
}
