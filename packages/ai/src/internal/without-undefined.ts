type WithoutUndefined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** The fields that have a value, for options that may be left out but not be undefined. */
export const withoutUndefined = <T extends object>(fields: T): WithoutUndefined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>;
