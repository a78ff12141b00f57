/** Checking values that come from programs and files, field by field. */
export type { Field, Fields, FieldValues, OptionalField } from "./field.ts";
export {
  decimal,
  flag,
  jsonObject,
  image,
  list,
  nonEmptyText,
  nullable,
  object,
  oneOf,
  optional,
  text,
  wholeNumber,
  anyJson,
} from "./kinds.ts";
export { type ParsedFields, parseFields } from "./parse.ts";
