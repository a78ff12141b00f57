import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { Output } from "./output.ts";

/** A reader that takes nothing, behind a descriptor that is not there. */
function stuck() {
  let broken = 0;
  const stream = new Writable({ write: () => {} });
  const output = new Output({ fd: -1, stream: () => stream, onBroken: () => broken++ });
  return { output, stream, broken: () => broken };
}

const megabyte = "x".repeat(1024 ** 2);

test("what waits for a reader that has stopped is bounded, and said", () => {
  const { output, stream, broken } = stuck();
  for (let written = 0; written < 200; written++) {
    output.write(megabyte);
    output.flush();
  }
  expect(stream.writableLength).toBeLessThan(20 * 1024 ** 2);
  expect(broken()).toBe(1);
  expect(output.failure).toContain("stopped reading");
});

test("one record may be as large as it is", () => {
  const { output, broken } = stuck();
  output.write(megabyte.repeat(100));
  output.flush();
  expect(broken()).toBe(0);
});
