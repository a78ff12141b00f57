/** Whether a value is an object other than null or an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value if it is an object with fields, else an empty object. */
export const toRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
