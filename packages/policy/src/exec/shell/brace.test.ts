import { expect, test } from "vitest";
import { expandBraces } from "./brace.ts";

test.for<[string, string[]]>([
  ["a", ["a"]],
  ["{a,b}", ["a", "b"]],
  ["x{a,b}y", ["xay", "xby"]],
  ["{a,b}{1,2}", ["a1", "a2", "b1", "b2"]],
  ["{a,{b,c}}", ["a", "b", "c"]],
  ["{a}", ["{a}"]],
  ["{a}{b,c}", ["{a}b", "{a}c"]],
  ["{1..3}", ["1", "2", "3"]],
  ["{3..1}", ["3", "2", "1"]],
  ["{01..3}", ["01", "02", "03"]],
  ["{a..c}", ["a", "b", "c"]],
  ["{1..9..4}", ["1", "5", "9"]],
  ["${a,b}", ["${a,b}"]],
  ["'{a,b}'", ["'{a,b}'"]],
  ["{'a,b',c}", ["'a,b'", "c"]],
  ["{$(x,y),z}", ["$(x,y)", "z"]],
  ["\\{a,b}", ["\\{a,b}"]],
  ["{a,b", ["{a,b"]],
  ["{,x}", ["", "x"]],
])("%s", ([source, expected]) => {
  expect(expandBraces(source)).toEqual(expected);
});

test("too many words are not expanded", () => {
  expect(expandBraces("{1..1000}")).toBeUndefined();
  expect(expandBraces("{1..200}{1..200}")).toBeUndefined();
});
