import { expect, test } from "vitest";
import { nestSetting } from "./nest.ts";

test("a dotted name becomes nested objects, and one with too many dots is refused", () => {
  expect(nestSetting("gateway.port", 1)).toEqual({ gateway: { port: 1 } });
  expect(() => nestSetting(".".repeat(100_000), 1)).toThrow("There is no setting with 100001 names between dots.");
});
