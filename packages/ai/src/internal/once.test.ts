import { expect, test } from "vitest";
import { oncePer, oncePerPair } from "./once.ts";

test("something is made once for each object, also if it is undefined", () => {
  let count = 0;
  const find = oncePer((key: { name?: string }) => {
    count++;
    return key.name;
  });
  const [named, nameless] = [{ name: "a" }, {}];
  expect([find(named), find(nameless), find(named), find(nameless), count]).toEqual([
    "a",
    undefined,
    "a",
    undefined,
    2,
  ]);
});

test("something is made once for each pair, whose order counts", () => {
  const pair = oncePerPair((a: object, b: object) => ({ a, b }));
  const [a, b] = [{}, {}];
  expect(pair(a, b)).toBe(pair(a, b));
  expect(pair(a, b)).not.toBe(pair(b, a));
  expect(pair(b, a)).toEqual({ a: b, b: a });
});

test("a failure is not kept", () => {
  let count = 0;
  const make = oncePer(() => {
    if (count++ === 0) throw new Error("no");
    return count;
  });
  const key = {};
  expect(() => make(key)).toThrow("no");
  expect([make(key), make(key)]).toEqual([2, 2]);
});
