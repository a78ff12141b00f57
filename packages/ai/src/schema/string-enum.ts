// Only types are imported, because loading TypeBox (25 KB) would slow down startup. TypeBox recognises its types by the
// two hidden properties below; a test checks them against its guards.
import type { TOptional, TUnsafe } from "typebox";

export interface StringEnumOptions<TValue extends string> {
  description?: string;
  /** Filled in by validation if the model omits the property. */
  default?: TValue;
}

/**
 * A schema for one of several strings, as `{ type: "string", enum: […] }`. TypeBox's own union of literals becomes
 * `anyOf`, which not every provider accepts.
 */
export function StringEnum<const TValues extends readonly string[]>(
  values: TValues,
  options: StringEnumOptions<TValues[number]> = {},
): TUnsafe<TValues[number]> {
  const { description, default: fallback } = options;
  const schema = {
    type: "string",
    enum: [...values],
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
  };
  return Object.defineProperty(schema, "~unsafe", { value: null }) as unknown as TUnsafe<TValues[number]>;
}

/** Like `StringEnum`, for an optional property. */
export function optionalStringEnum<const TValues extends readonly string[]>(
  values: TValues,
  options: StringEnumOptions<TValues[number]> = {},
): TOptional<TUnsafe<TValues[number]>> {
  const schema = StringEnum(values, options);
  return Object.defineProperty(schema, "~optional", { value: true }) as TOptional<TUnsafe<TValues[number]>>;
}
