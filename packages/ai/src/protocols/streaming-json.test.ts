import fc from "fast-check";
import { expect, test } from "vitest";
import { deepestJson, isTooDeep, parseStreamingJson, StreamingJson } from "./streaming-json.ts";

const objects = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 5 }));

/** Cuts a text at the given places. */
const cut = (text: string, places: number[]): string[] => {
  const sorted = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [...sorted, text.length].map((end, index) => text.slice(index === 0 ? 0 : sorted[index - 1], end));
};

const read = (pieces: string[]) => {
  const parser = new StreamingJson();
  for (const piece of pieces) parser.push(piece);
  return { problem: parser.end(), value: parser.value };
};

test("any object, written by JSON.stringify and cut anywhere, is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(
      objects,
      fc.array(fc.nat(), { maxLength: 20 }),
      fc.constantFrom(undefined, 2),
      (object, places, indent) => {
        const text = JSON.stringify(object, undefined, indent);
        const { problem, value } = read(cut(text, places));
        expect(problem).toBeUndefined();
        // The round trip compares __proto__ keys too, and reads -0 as JSON.stringify writes it.
        expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
      },
    ),
    { numRuns: 500 },
  );
});

test("where a text is cut makes no difference, also when it is not JSON", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'{}[]":,\\ntrue-1.5eu00 \n') }),
      fc.array(fc.nat()),
      (noise, places) => {
        const text = `{"a":${noise}`;
        const whole = read([text]);
        const pieces = read(cut(text, places));
        expect(JSON.stringify(pieces)).toBe(JSON.stringify(whole));
      },
    ),
    { numRuns: 2_000 },
  );
});

test("what JSON.parse accepts as an object is never refused", () => {
  fc.assert(
    fc.property(objects, (object) => {
      expect(read([` \n${JSON.stringify(object)} `]).problem).toBeUndefined();
    }),
  );
});

test("strings grow while they arrive", () => {
  const parser = new StreamingJson();
  parser.push('{"path":"a.txt","content":"Hel');
  expect(parser.value).toEqual({ path: "a.txt", content: "Hel" });
  parser.push("lo\\");
  expect(parser.value["content"]).toBe("Hello");
  parser.push('n"}');
  expect(parser.value["content"]).toBe("Hello\n");
  expect(parser.end()).toBeUndefined();
});

test("the object is the one that was given, filled in place", () => {
  const target = {};
  const parser = new StreamingJson(target);
  parser.push('{"list":[1,{"a":"b');
  expect(target).toEqual({ list: [1, { a: "b" }] });
});

test.each([
  ["", undefined],
  ["  \n", undefined],
  ["{}", undefined],
  ['{"a":1} and a remark', undefined],
  ['{"a":"raw\nline\tbreak"}', undefined],
  ['{"a":"C:\\Users\\q"}', undefined],
  ['{"a":1', /ends in the middle/],
  ['{"a":"x', /ends in the middle/],
  ["{", /ends in the middle/],
  ['["a"]', /an object was expected/],
  ['"text"', /an object was expected/],
  ["{a:1}", /property name/],
  ['{"a" 1}', /colon/],
  ['{"a":tru}', /not a JSON value/],
  ['{"a":1]', /comma or the end/],
  ['{"a":1,}', /property name/],
  ['{"a":[1,]}', /a value was expected/],
  ['{"a":01}', /not a JSON value/],
])("%j gives %s", (text, problem) => {
  const result = read([text]);
  if (problem) expect(result.problem).toMatch(problem);
  else expect(result.problem).toBeUndefined();
});

test("unknown escapes are kept as they were written", () => {
  expect(read(['{"a":"C:\\Users\\q\\u12G4"}']).value).toEqual({ a: "C:\\Users\\q\\u12G4" });
});

test.each(["__proto__", "constructor", "prototype"])("a key named %s is data", (key) => {
  const { value } = read([`{"${key}":{"polluted":true}}`]);
  expect(Object.hasOwn(value, key)).toBe(true);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("nesting is refused beyond its limit, and no depth overflows the stack", () => {
  const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  expect(read([nested(deepestJson)]).problem).toBeUndefined();
  expect(read([nested(deepestJson + 1)]).problem).toMatch(/deeper than 64/);
  expect(read([nested(10_000)]).problem).toMatch(/deeper than 64/);
});

test("depth of a parsed value is judged by the same limit", () => {
  const parse = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
  expect(isTooDeep(parse(deepestJson))).toBe(false);
  expect(isTooDeep(parse(deepestJson + 1))).toBe(true);
  expect(isTooDeep(parse(10_000))).toBe(true);
});

test("reading a partial text always gives an object", () => {
  expect(parseStreamingJson('{"a":[1,2,{"b":"c')).toEqual({ a: [1, 2, { b: "c" }] });
  expect(parseStreamingJson("")).toEqual({});
  expect(parseStreamingJson(undefined)).toEqual({});
  expect(parseStreamingJson("not json")).toEqual({});
});
