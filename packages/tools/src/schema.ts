/**
 * The few schema builders that our tools need. They are typebox's, with its types and marks, but without its code: a
 * schema is plain JSON Schema, and loading the library costs several hundred modules at every start.
 */
import type { Type as TypeBox } from "typebox";

type Schema = Record<string, unknown>;
type Names = "Array" | "Boolean" | "Enum" | "Integer" | "Null" | "Number" | "Object" | "Optional" | "String" | "Union";

const optional = "~optional";

/** Marks are for typebox, and not enumerable, so that no copy that is sent has them. */
const marked = (schema: Schema, mark: string, value: unknown): Schema =>
  Object.defineProperty(schema, mark, { value, enumerable: false, configurable: true, writable: true });

const made = (kind: string, fields: Schema, options: Schema = {}) => marked({ ...fields, ...options }, "~kind", kind);

const builders = {
  Array: (items: Schema, options?: Schema) => made("Array", { type: "array", items }, options),
  Boolean: (options?: Schema) => made("Boolean", { type: "boolean" }, options),
  Enum: (values: readonly string[], options?: Schema) => made("Enum", { enum: values }, options),
  Integer: (options?: Schema) => made("Integer", { type: "integer" }, options),
  Null: (options?: Schema) => made("Null", { type: "null" }, options),
  Number: (options?: Schema) => made("Number", { type: "number" }, options),
  Object: (properties: Record<string, Schema>, options?: Schema) => {
    const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name]!, optional));
    return made("Object", { type: "object", ...(required.length > 0 && { required }), properties }, options);
  },
  Optional: (schema: Schema) => marked(made(String(schema["~kind"]), schema), optional, true),
  String: (options?: Schema) => made("String", { type: "string" }, options),
  Union: (anyOf: readonly Schema[], options?: Schema) => made("Union", { anyOf }, options),
} satisfies Record<Names, unknown>;

export const Type = builders as unknown as Pick<typeof TypeBox, Names>;
