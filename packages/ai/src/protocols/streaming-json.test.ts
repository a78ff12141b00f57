import fc from "fast-check";
import { expect, test } from "vitest";
import { maxJsonDepth, isTooDeep, parseStreamingJson, StreamingJson } from "./streaming-json.ts";

const objects = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 5 }));

/** Splits a text at the given offsets. */
const split = (text: string, offsets: number[]): string[] => {
  const sorted = [...new Set(offsets.map((offset) => offset % (text.length + 1)))].sort((a, b) => a - b);
  return [...sorted, text.length].map((end, index) => text.slice(index === 0 ? 0 : sorted[index - 1], end));
};

const read = (pieces: string[]) => {
  const parser = new StreamingJson();
  for (const piece of pieces) parser.push(piece);
  return { problem: parser.end(), value: parser.value };
};

test("any output of JSON.stringify, split anywhere, is parsed like JSON.parse does", () => {
  fc.assert(
    fc.property(
      objects,
      fc.array(fc.nat(), { maxLength: 20 }),
      fc.constantFrom(undefined, 2),
      (object, offsets, indent) => {
        const text = JSON.stringify(object, undefined, indent);
        const { problem, value } = read(split(text, offsets));
        expect(problem).toBeUndefined();
        // Comparing the JSON text also compares __proto__ keys, and treats -0 as 0.
        expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
      },
    ),
    { numRuns: 500 },
  );
});

test("it makes no difference where a text is split, even if it is not JSON", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'{}[]":,\\ntrue-1.5eu00 \n') }),
      fc.array(fc.nat()),
      (noise, offsets) => {
        const text = `{"a":${noise}`;
        const whole = read([text]);
        const pieces = read(split(text, offsets));
        expect(JSON.stringify(pieces)).toBe(JSON.stringify(whole));
      },
    ),
    { numRuns: 2_000 },
  );
});

test("every object that JSON.parse accepts is accepted", () => {
  fc.assert(
    fc.property(objects, (object) => {
      expect(read([` \n${JSON.stringify(object)} `]).problem).toBeUndefined();
    }),
  );
});

test.each([
  ["return 5", "return 5"],
  [' \n"return \\"a\\""', 'return "a"'],
  ['"a" + "b"', '"a" + "b"'],
  ["// {}\nreturn 1", "// {}\nreturn 1"],
  ["[1]", "[1]"],
  ['{"a":', undefined],
  ['{"a":1}', undefined],
  ["", undefined],
])("the text %j that is no object is kept whole, wherever it is split", (text, expected) => {
  for (let offset = 0; offset <= text.length; offset++) {
    const parser = new StreamingJson();
    parser.push(text.slice(0, offset));
    parser.push(text.slice(offset));
    parser.end();
    expect(parser.plainText).toBe(expected);
  }
});

test("a text that was cut off is not kept", () => {
  const parser = new StreamingJson();
  parser.push("return");
  parser.cut();
  expect(parser.plainText).toBeUndefined();
});

test("strings are available while they arrive", () => {
  const parser = new StreamingJson();
  parser.push('{"path":"a.txt","content":"Hel');
  expect(parser.value).toEqual({ path: "a.txt", content: "Hel" });
  parser.push("lo\\");
  expect(parser.value["content"]).toBe("Hello");
  parser.push('n"}');
  expect(parser.value["content"]).toBe("Hello\n");
  expect(parser.end()).toBeUndefined();
});

test("the target object is filled in place", () => {
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

test("unknown escapes are kept as text", () => {
  expect(read(['{"a":"C:\\Users\\q\\u12G4"}']).value).toEqual({ a: "C:\\Users\\q\\u12G4" });
});

test.each(["__proto__", "constructor", "prototype"])("a key named %s is an ordinary property", (key) => {
  const { value } = read([`{"${key}":{"polluted":true}}`]);
  expect(Object.hasOwn(value, key)).toBe(true);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("nesting beyond the limit is rejected, and no depth overflows the stack", () => {
  const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  expect(read([nested(maxJsonDepth)]).problem).toBeUndefined();
  expect(read([nested(maxJsonDepth + 1)]).problem).toMatch(/deeper than 64/);
  expect(read([nested(10_000)]).problem).toMatch(/deeper than 64/);
});

test("the depth of a parsed value has the same limit", () => {
  const parse = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
  expect(isTooDeep(parse(maxJsonDepth))).toBe(false);
  expect(isTooDeep(parse(maxJsonDepth + 1))).toBe(true);
  expect(isTooDeep(parse(10_000))).toBe(true);
});

test("parsing a partial text always gives an object", () => {
  expect(parseStreamingJson('{"a":[1,2,{"b":"c')).toEqual({ a: [1, 2, { b: "c" }] });
  expect(parseStreamingJson("")).toEqual({});
  expect(parseStreamingJson(undefined)).toEqual({});
  expect(parseStreamingJson("not json")).toEqual({});
});
