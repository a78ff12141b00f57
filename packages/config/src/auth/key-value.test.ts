import fc from "fast-check";
import { expect, test } from "vitest";
import { literalKey, parseKey, resolveKey } from "./key-value.ts";

const env = (name: string) => ({ KEY: "from-env", EMPTY: "", _x1: "odd" })[name];
const read = async (written: string) => {
  const outcome = await resolveKey(written, { subject: "the key of x", env });
  return outcome.kind === "value" ? outcome.value : outcome.failure.kind;
};

test.each([
  ["plain", "plain"],
  [" plain\n", "plain"],
  ["$KEY", "from-env"],
  ["${KEY}", "from-env"],
  ["a-$KEY-b", "a-from-env-b"],
  ["${KEY}$_x1", "from-envodd"],
  ["$$KEY", "$KEY"],
  ["$!x", "!x"],
  ["a$", "a$"],
  ["${not a name}", "${not a name}"],
  ["$1", "$1"],
  ["$NOPE", "missing_variable"],
  ["$EMPTY", "missing_variable"],
  ["", "damaged"],
  ["two\nlines", "damaged"],
  ["!echo x", "command"],
])("%j is read as %j", async (written, value) => {
  expect(await read(written)).toBe(value);
});

test("the failure of a missing variable names it", async () => {
  const outcome = await resolveKey("a $NOPE", { subject: "the key of x", env });
  expect(outcome).toMatchObject({ failure: { message: expect.stringContaining("NOPE") } });
});

test("a key that is written as a literal is read as itself", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("$", "!", "{", "}", "A", "_", "1", " ") }), (key) => {
      expect(parseKey(literalKey(key))).toEqual({
        kind: "parts",
        parts: key === "" ? [] : [{ kind: "text", text: key }],
      });
    }),
  );
});
