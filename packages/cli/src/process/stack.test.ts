import { expect, test } from "vitest";
import { formatStack } from "./stack.ts";

test("the causes of an error are told, also if one of them is the error itself", () => {
  const error = new Error("outer", { cause: new Error("inner", { cause: "a word" }) });
  expect(formatStack(error)).toMatch(/^Error: outer\n[^]*\nCaused by: Error: inner\n[^]*\nCaused by: a word$/);
  const circle = new Error("again");
  circle.cause = circle;
  expect(formatStack(circle).split("Caused by: ")).toHaveLength(11);
});
