import { expect, test } from "vitest";
import { release } from "./release.ts";

/** Node 20 cannot free a buffer and leaves it to the garbage collector. */
const canRelease = "transfer" in ArrayBuffer.prototype;

test("a buffer with memory of its own is emptied where Node can do it", () => {
  const buffers = Array.from({ length: 3 }, () => Buffer.alloc(64 * 1024, "x"));
  for (const buffer of buffers) release(buffer);
  const length = canRelease ? 0 : 64 * 1024;
  expect(buffers.map((buffer) => buffer.length)).toEqual([length, length, length]);
});

test("a buffer that shares its memory is left alone", () => {
  const whole = Buffer.alloc(64 * 1024, "x");
  release(whole.subarray(0, 32 * 1024));
  release(Buffer.from("a text from the pool"));
  expect(whole.equals(Buffer.alloc(64 * 1024, "x"))).toBe(true);
});
