import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLine } from "./json-line.ts";

test("a tree that is deeper than the stack is written like a shallow one", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      let deep: unknown = value;
      for (let depth = 0; depth < 20_000; depth++) deep = { children: [deep], left: undefined };
      const line = jsonLine(deep);
      const around = '{"children":['.repeat(20_000);
      expect(line.startsWith(around)).toBe(true);
      expect(JSON.parse(line.slice(around.length, -("]}".repeat(20_000).length + 1)))).toEqual(
        JSON.parse(JSON.stringify(value)),
      );
    }),
    { numRuns: 10 },
  );
});
