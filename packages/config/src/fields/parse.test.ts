import { expect, expectTypeOf, test } from "vitest";
import { flag, image, list, map, nonEmptyText, nullable, object, oneOf, optional, text, wholeNumber } from "./kinds.ts";
import { parseFields } from "./parse.ts";

const fields = {
  message: text,
  title: optional(nonEmptyText),
  images: optional(list(image)),
  mode: optional(oneOf("all", "one-at-a-time")),
  isUrgent: optional(flag),
};

const picture = { type: "image", data: "AA==", mimeType: "image/png" } as const;

test("the type of the values comes from the description", () => {
  const parsed = parseFields(fields, { message: "Hi." });
  if (parsed.kind === "wrong") throw new Error(parsed.message);
  const { message, images, mode, isUrgent } = parsed.values;
  expectTypeOf(message).toEqualTypeOf<string>();
  expectTypeOf(images?.[0]?.data).toEqualTypeOf<string | undefined>();
  expectTypeOf(mode).toEqualTypeOf<"all" | "one-at-a-time" | undefined>();
  expectTypeOf(isUrgent).toEqualTypeOf<boolean | undefined>();
});

test("an optional field may be left out or null, and is absent then", () => {
  const parsed = parseFields(fields, { message: "", title: null, images: undefined });
  expect(parsed).toStrictEqual({ kind: "parsed", values: { message: "" } });
});

test("fields that are not described are ignored, also inside of others", () => {
  const value = { message: "Hi.", later: 1, images: [{ ...picture, later: 1 }] };
  expect(parseFields(fields, value)).toStrictEqual({
    kind: "parsed",
    values: { message: "Hi.", images: [picture] },
  });
});

test.each([
  [{}, '"message" has to be a string, and is missing.'],
  [[], "The value has to be an object, not a list."],
  [{ message: ["x"] }, '"message" has to be a string, not a list.'],
  [{ message: null }, '"message" has to be a string, not null.'],
  [{ message: "x".repeat(41), title: {} }, '"title" has to be a string that is not empty, not an object.'],
  [{ message: "", title: " " }, '"title" has to be a string that is not empty, not " ".'],
  [{ message: "", isUrgent: "yes" }, '"isUrgent" has to be true or false, not "yes".'],
  [{ message: "", mode: "some" }, '"mode" has to be "all" or "one-at-a-time", not "some".'],
  [
    { message: "", mode: "one-at-time" },
    '"mode" has to be "all" or "one-at-a-time", not "one-at-time". Did you mean "one-at-a-time"?',
  ],
  [{ message: "", mode: "x".repeat(41) }, '"mode" has to be "all" or "one-at-a-time", not a string of 41 characters.'],
  [{ message: "", images: {} }, '"images" has to be a list, not an object.'],
  [{ message: "", images: [{ type: "image" }] }, '"images[0].data" has to be a string, and is missing.'],
  [{ message: "", images: [picture, { ...picture, type: "text" }] }, '"images[1].type" has to be "image", not "text".'],
])("%j is refused in one sentence", (value, message) => {
  expect(parseFields(fields, value)).toEqual({ kind: "wrong", message });
});

test("names that reach into the language are neither found nor given", () => {
  expect(parseFields({ toString: optional(text), constructor: optional(text) }, {})).toStrictEqual({
    kind: "parsed",
    values: {},
  });
  const hostile: unknown = JSON.parse('{ "inner": { "__proto__": "a" } }');
  const parsed = parseFields({ inner: map(text) }, hostile);
  expect(parsed).toEqual({ kind: "parsed", values: { inner: new Map([["__proto__", "a"]]) } });
});

test("where null means something, an optional field keeps it", () => {
  const level = { level: optional(nullable(text)) };
  expect(parseFields(level, { level: null })).toEqual({ kind: "parsed", values: { level: null } });
  expect(parseFields(level, { level: 1 })).toEqual({
    kind: "wrong",
    message: '"level" has to be a string, or null, not 1.',
  });
});

test("a number says its unit and its minimum", () => {
  const parsed = parseFields({ limit: wholeNumber({ min: 1, unit: "tokens" }) }, { limit: 0.5 });
  expect(parsed).toEqual({ kind: "wrong", message: '"limit" has to be a whole number of tokens, 1 or more, not 0.5.' });
});

test("a field inside of others is named with its path, and a name with dots is in brackets", () => {
  const parsed = parseFields({ models: map(object({ id: text })) }, { models: { "gpt-4.1": { id: 1 } } });
  expect(parsed).toEqual({ kind: "wrong", message: `"models['gpt-4.1'].id" has to be a string, not 1.` });
});
