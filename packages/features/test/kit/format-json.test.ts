/** JSON for people: the text of `JSON.stringify`, without its costs where that is cut anyway. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatJson } from "../../src/kit/format-json.ts";

test("the text is the start of what JSON.stringify writes, and all of it where there is space", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(400), fc.integer({ min: 1, max: 4 }), (value, maxLength, indent) => {
      // As a value arrives: without negative zeros.
      const parsed = JSON.parse(JSON.stringify(value)) as unknown;
      const whole = JSON.stringify(parsed, undefined, indent);
      const { text, isWhole } = formatJson(parsed, { maxLength, indent });
      expect(isWhole).toBe(whole.length <= maxLength);
      if (isWhole) expect(text).toBe(whole);
      else expect([text, text.length]).toEqual([whole.slice(0, maxLength), maxLength]);
    }),
  );
});

test.each<[what: string, json: string]>([
  ["deep and wide", `${"[".repeat(900)}${"1,".repeat(100_000)}1${"]".repeat(900)}`],
  ["deeper than the stack", `${'{"a":['.repeat(100_000)}${"]}".repeat(100_000)}`],
])("a value that is %s costs no more than what is shown of it", (_what, json) => {
  const { text, isWhole } = formatJson(JSON.parse(json), { maxLength: 10_000, indent: 2 });
  expect([text.length, isWhole]).toEqual([10_000, false]);
});
