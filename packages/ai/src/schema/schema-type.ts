/**
 * The type of the values that fit a schema: JSON Schema whose literal types are known, or TypeBox, whose types carry the same
 * keywords. Read from those, because TypeBox's own declarations take four times as long to check as all of ours; only their two
 * marks that no keyword expresses are named here. `unknown` for a schema without a static type.
 */
export type SchemaType<Schema> = Schema extends { readonly "~unsafe": infer Value }
  ? Value
  : Schema extends { readonly "~kind": "Any" }
    ? // oxlint-disable-next-line typescript/no-explicit-any -- what Type.Any() stands for
      any
    : Schema extends { readonly const: infer Value }
      ? Value
      : Schema extends { readonly enum: readonly (infer Value)[] }
        ? Value
        : Schema extends { readonly anyOf: readonly (infer Member)[] }
          ? SchemaType<Member>
          : Schema extends { readonly oneOf: readonly (infer Member)[] }
            ? SchemaType<Member>
            : Schema extends { readonly allOf: infer Members }
              ? AllTypes<Members>
              : Schema extends { readonly type: readonly (infer Name)[] }
                ? NamedType<Name, Schema>
                : Schema extends { readonly type: infer Name }
                  ? NamedType<Name, Schema>
                  : unknown;

type AllTypes<Members> = Members extends readonly [infer First, ...infer Rest]
  ? SchemaType<First> & AllTypes<Rest>
  : unknown;

type NamedType<Name, Schema> = Name extends "string"
  ? string
  : Name extends "number" | "integer"
    ? number
    : Name extends "boolean"
      ? boolean
      : Name extends "null"
        ? null
        : Name extends "array"
          ? ArrayType<Schema>
          : Name extends "object"
            ? ObjectType<Schema>
            : unknown;

type ArrayType<Schema> = Schema extends { readonly prefixItems: infer Members extends readonly unknown[] }
  ? TupleType<Members>
  : Schema extends { readonly items: infer Items }
    ? Items extends readonly unknown[]
      ? TupleType<Items>
      : SchemaType<Items>[]
    : unknown[];

type TupleType<Members extends readonly unknown[]> = {
  -readonly [Index in keyof Members]: SchemaType<Members[Index]>;
};

type ObjectType<Schema> = Schema extends { readonly properties: infer Properties }
  ? Flat<
      { -readonly [Key in keyof Properties & RequiredKeys<Schema>]: SchemaType<Properties[Key]> } & {
        -readonly [Key in Exclude<keyof Properties, RequiredKeys<Schema>>]?: SchemaType<Properties[Key]>;
      }
    >
  : Schema extends { readonly patternProperties: infer Patterns }
    ? Record<string, SchemaType<Patterns[keyof Patterns]>>
    : Schema extends { readonly additionalProperties: infer Value extends object }
      ? Record<string, SchemaType<Value>>
      : Record<string, unknown>;

type RequiredKeys<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never;

type Flat<Type> = { [Key in keyof Type]: Type[Key] };
