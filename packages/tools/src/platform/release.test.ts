import { expect, test } from "vitest";
import { release } from "./release.ts";

test("a buffer with a memory of its own is empty once it is given back", () => {
  const buffers = Array.from({ length: 3 }, () => Buffer.alloc(64 * 1024, "x"));
  for (const buffer of buffers) release(buffer);
  expect(buffers.map(({ length }) => length)).toEqual([0, 0, 0]);
});

test("what shares its memory with something else is left alone", () => {
  const whole = Buffer.alloc(64 * 1024, "x");
  release(whole.subarray(0, 32 * 1024));
  release(Buffer.from("a text from the pool"));
  expect(whole.equals(Buffer.alloc(64 * 1024, "x"))).toBe(true);
});
