/** Reads data of tools and other programs, which may be anything. */

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; none for any other value. */
export const toFields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const getText = (value: unknown): string => (typeof value === "string" ? value : "");

export const getNumber = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
