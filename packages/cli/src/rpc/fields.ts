/** What a command may be given, and what is said when it is given something else. Pure. */
import type { ImageContent } from "@tau/ai";

/** Reads a value, or says in words what it has to be. */
export interface Field<T> {
  is: string;
  read: (value: unknown) => T | undefined;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** What is read from fields: those that may be left out are undefined then. */
export type Given<F extends Fields> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never };

const absent = Symbol("absent");

export const text: Field<string> = {
  is: "a string",
  read: (value) => (typeof value === "string" ? value : undefined),
};

/** A string with something in it. */
export const words: Field<string> = {
  is: "a string that is not empty",
  read: (value) => (typeof value === "string" && value.trim() !== "" ? value : undefined),
};

export const flag: Field<boolean> = {
  is: "true or false",
  read: (value) => (typeof value === "boolean" ? value : undefined),
};

export const oneOf = <const T extends string>(...choices: readonly T[]): Field<T> => ({
  is: choices.map((choice) => JSON.stringify(choice)).join(" or "),
  read: (value) => choices.find((choice) => choice === value),
});

export const images: Field<ImageContent[]> = {
  is: 'a list of images: {"type":"image","data":BASE64,"mimeType":TYPE}',
  read: (value) => (Array.isArray(value) && value.every(isImage) ? value.map(toImage) : undefined),
};

/** May be left out; null stands for that too, as not every language can leave something out. */
export const optional = <T>({ is, read }: Field<T>): Field<T | undefined> => ({
  is: `${is}, or left out`,
  // A field that reads as undefined is refused; one that is absent is not.
  read: (value) => (value === undefined || value === null ? (absent as unknown as undefined) : read(value)),
});

function isImage(value: unknown): value is ImageContent {
  const { type, data, mimeType } = (value ?? {}) as Record<string, unknown>;
  return type === "image" && typeof data === "string" && typeof mimeType === "string";
}

const toImage = ({ data, mimeType }: ImageContent): ImageContent => ({ type: "image", data, mimeType });

export type ReadResult<F extends Fields> = { kind: "read"; given: Given<F> } | { kind: "wrong"; message: string };

/** Fields that nobody asked for are left alone: a later version of a client may have more to say. */
export function readFields<F extends Fields>(fields: F, values: Readonly<Record<string, unknown>>): ReadResult<F> {
  const given: Record<string, unknown> = {};
  for (const [name, { is, read }] of Object.entries(fields)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const found = read(value);
    if (found === undefined)
      return { kind: "wrong", message: `${JSON.stringify(name)} has to be ${is}, ${not(value)}.` };
    if (found !== absent) given[name] = found;
  }
  return { kind: "read", given: given as Given<F> };
}

function not(value: unknown): string {
  if (value === undefined) return "and is missing";
  if (value === null) return "not null";
  if (Array.isArray(value)) return "not a list";
  if (typeof value === "object") return "not an object";
  const shown = JSON.stringify(value);
  return `not ${shown.length > 60 ? `${shown.slice(0, 59)}…` : shown}`;
}
