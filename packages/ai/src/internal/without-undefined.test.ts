import { expect, test } from "vitest";
import { withoutUndefined } from "./without-undefined.ts";

test("only undefined fields are left out: null, false, 0 and the empty string are values", () => {
  const fields = { a: undefined, b: null, c: false, d: 0, e: "", f: "text" };
  expect(withoutUndefined(fields)).toStrictEqual({ b: null, c: false, d: 0, e: "", f: "text" });
});
