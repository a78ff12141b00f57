/** Helpers for untrusted JSON. */

/** Parses JSON; undefined if the text is not valid JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether a value is an object other than null or an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value if it is an object, else an empty one. */
export const asRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

/** The value if it is an array, else an empty one. */
export const asArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The value if it is a string, else an empty one. */
export const asString = (value: unknown): string => (typeof value === "string" ? value : "");

/** The `text` of each element of a list, joined. */
export const joinText = (parts: unknown, separator: string): string =>
  asArray(parts)
    .map((part) => asString(asRecord(part)["text"]))
    .join(separator);

/** Sets an own property. A plain assignment to `__proto__` would change the prototype instead. */
export function setOwnProperty(target: object, key: string, value: unknown): void {
  if (key !== "__proto__") (target as Record<string, unknown>)[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
