import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { Output } from "./output.ts";

/** An output whose reader reads nothing, and whose descriptor does not exist. */
function createStuckOutput() {
  let broken = 0;
  const stream = new Writable({ write: () => {} });
  const output = new Output({ fd: -1, hasReader: () => true, stream: () => stream, onBroken: () => broken++ });
  return { output, stream, broken: () => broken };
}

const megabyte = "x".repeat(1024 ** 2);

test("output for a reader that has stopped reading is limited, and the reason is reported", () => {
  const { output, stream, broken } = createStuckOutput();
  for (let written = 0; written < 200; written++) {
    output.write(megabyte);
    output.flush();
  }
  expect(stream.writableLength).toBeLessThan(20 * 1024 ** 2);
  expect(broken()).toBe(1);
  expect(output.failure).toContain("stopped reading");
});

test("a single record may have any size", () => {
  const { output, broken } = createStuckOutput();
  output.write(megabyte.repeat(100));
  output.flush();
  expect(broken()).toBe(0);
});
