import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type JsonDocument, parseJsonDocument } from "./document.ts";
import { parsePlainObject } from "./plain.ts";

const maxDepth = 64;

async function parse(text: string): Promise<JsonDocument> {
  const parsed = await parseJsonDocument(text);
  if (parsed.kind !== "document") throw new Error(parsed.message);
  return parsed;
}

/** Adds a comment, so that the parser that knows comments is used. */
const withComment = (text: string) => `${text} // end`;

const anyObject = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom("__proto__", 'a":', "\\", "1", "toString")),
  fc.jsonValue(),
);

test("a text has the same value whether or not it has a comment", async () => {
  const indents = fc.constantFrom(undefined, 2, "\t");
  await fc.assert(
    fc.asyncProperty(anyObject, indents, async (object, indent) => {
      const text = JSON.stringify(object, undefined, indent);
      const plain = parsePlainObject(text, maxDepth);
      expect(plain).toBeDefined();
      const { value } = await parse(withComment(text));
      expect(plain).toStrictEqual(value);
      expect(Object.keys(plain!)).toEqual(Object.keys(value));
    }),
  );
});

test("objects have no prototype, so that every name is only a name", async () => {
  const text = '{"__proto__": {"a": 1}, "list": [{"constructor": 2}]}';
  for (const { value } of [await parse(text), await parse(withComment(text))]) {
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.keys(value)).toEqual(["__proto__", "list"]);
    const [item] = value["list"] as [Record<string, unknown>];
    expect(Object.getPrototypeOf(item)).toBeNull();
    expect(item["constructor"]).toBe(2);
  }
});

test("a name that is there more than once is reported, and the last one counts", async () => {
  const { value, repeated } = await parse('{"a": {"b": 1, "c": "\\"b\\":", "b": 2}, "d": [{"e": 1}, {"e": 2}]}');
  expect(value).toMatchObject({ a: { b: 2, c: '"b":' }, d: [{ e: 1 }, { e: 2 }] });
  expect(repeated).toEqual([["a", "b"]]);
  // The same name with an escape in it.
  expect((await parse('{"a": 1, "\\u0061": 2}')).repeated).toEqual([["a"]]);
});

test("the position of a property is the same whether or not there is a comment", async () => {
  const text = '{\n  "a": 1,\n  "b": { "c": [1, { "d": 2 }] }\n}';
  for (const document of [await parse(text), await parse(withComment(text))]) {
    expect(document.getPosition(["b", "c", 1, "d"])).toEqual({ line: 3, column: 21 });
    expect(document.getPosition(["b", "none"])).toEqual({ line: 3, column: 3 });
    expect(document.getPosition([])).toEqual({ line: 1, column: 1 });
  }
});

describe("a text that is not plain JSON, or that has an error", () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

  test.each([
    ["nothing", ""],
    ["a list", "[]"],
    ["null", "null"],
    ["a trailing comma", '{"a":1,}'],
    ["a comment", '{"a":1}//'],
    ["a repeated name", '{"a":1,"a":1}'],
    ["65 levels", nested(65)],
    ["more levels than the stack has", nested(100_000)],
  ])("is left to the other parser: %s", (_name, text) => {
    expect(parsePlainObject(text, maxDepth)).toBeUndefined();
  });

  test("is nested at most 64 levels deep, with or without comments", async () => {
    for (const text of [nested(64), withComment(nested(64))]) {
      expect(await parseJsonDocument(text)).toMatchObject({ kind: "document" });
    }
    expect(parsePlainObject(nested(64), maxDepth)).toBeDefined();
    for (const text of [nested(65), withComment(nested(65))]) {
      const message = "This is nested more than 64 levels deep.";
      expect(await parseJsonDocument(text)).toMatchObject({ kind: "damaged", message });
    }
  });
});
