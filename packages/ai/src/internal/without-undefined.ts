/** The fields that have a value, for options that may be left out but not be undefined. */
export const withoutUndefined = <T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T> as never;
