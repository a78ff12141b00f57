import { expect, test } from "vitest";
import { notThere } from "./not-there.ts";

const Missing = notThere("Missing", "use Present.");
const sentence = "Missing is not available in tau: use Present.";

test("every use throws a sentence that names what is missing", () => {
  expect(() => Missing()).toThrow(sentence);
  expect(() => new Missing()).toThrow(sentence);
  expect(() => Missing.create()).toThrow(sentence);
  class Derived extends Missing {}
  expect(() => new Derived()).toThrow(sentence);
});

test("it can be imported, awaited and printed without being used", async () => {
  expect(await Missing).toBe(Missing);
  expect(typeof Missing).toBe("function");
  expect(Missing.name).toBe("Missing");
  expect(String(Object(Missing)[Symbol.toStringTag])).toBe("undefined");
});
