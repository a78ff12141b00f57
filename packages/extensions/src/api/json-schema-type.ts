/** The type of the values that fit a JSON Schema, if the schema is written down where its literal types are known. */

export type JsonSchemaType<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Member)[] }
      ? JsonSchemaType<Member>
      : Schema extends { readonly oneOf: readonly (infer Member)[] }
        ? JsonSchemaType<Member>
        : Schema extends { readonly type: readonly (infer Name)[] }
          ? NamedType<Name, Schema>
          : Schema extends { readonly type: infer Name }
            ? NamedType<Name, Schema>
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

type ArrayType<Schema> = Schema extends { readonly items: infer Items } ? JsonSchemaType<Items>[] : unknown[];

type ObjectType<Schema> = Schema extends { readonly properties: infer Properties }
  ? Flat<
      { -readonly [Key in keyof Properties & RequiredKeys<Schema>]: JsonSchemaType<Properties[Key]> } & {
        -readonly [Key in Exclude<keyof Properties, RequiredKeys<Schema>>]?: JsonSchemaType<Properties[Key]>;
      }
    >
  : Record<string, unknown>;

type RequiredKeys<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never;

type Flat<Type> = { [Key in keyof Type]: Type[Key] };
