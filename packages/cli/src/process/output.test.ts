import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { Output } from "./output.ts";

/** An output whose reader takes a piece only when it is told to, and whose descriptor does not exist. */
function createSlowOutput() {
  let broken = 0;
  let taken = 0;
  let takePiece = () => {};
  const clock = createFakeClock();
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      takePiece = () => {
        taken += chunk.length;
        done();
      };
    },
  });
  const output = new Output({ fd: -1, hasReader: () => true, stream: () => stream, clock, onBroken: () => broken++ });
  const write = (text: string) => {
    output.write(text);
    output.flush();
  };
  return { output, clock, write, broken: () => broken, taken: () => taken, takePiece: () => takePiece() };
}

const megabyte = "x".repeat(1024 ** 2);

test("a reader that takes nothing for 30 seconds while much waits is given up, and the reason is reported", async () => {
  const { output, clock, write, broken } = createSlowOutput();
  for (let written = 0; written < 200; written++) write(megabyte);
  await clock.advance(29_000);
  write(megabyte);
  expect(broken()).toBe(0);
  await clock.advance(1_000);
  write(megabyte);
  expect(broken()).toBe(1);
  expect(output.failure).toContain("stopped reading");
});

test("a reader that takes something now and then is waited for, however much waits and however long it takes", async () => {
  const { clock, write, broken, taken, takePiece } = createSlowOutput();
  write(megabyte.repeat(100));
  for (let round = 0; round < 100; round++) {
    await clock.advance(29_000);
    takePiece();
    await clock.advance(0);
    write(megabyte);
  }
  expect(broken()).toBe(0);
  expect(taken()).toBeGreaterThan(0);
});

test("a reader that takes nothing is waited for while little waits", async () => {
  const { clock, write, broken } = createSlowOutput();
  write(megabyte);
  await clock.advance(3_600_000);
  write(megabyte);
  expect(broken()).toBe(0);
});

test("bytes are written as they are, after the text before them", () => {
  const directory = mkdtempSync(join(tmpdir(), "tau-output-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "out");
  const fd = openSync(path, "w");
  const stream = () => new Writable();
  const output = new Output({ fd, hasReader: () => false, stream, clock: createFakeClock(), onBroken: () => {} });
  output.write("text ");
  output.write(Uint8Array.of(0, 255, 10));
  output.write("more");
  output.flush();
  closeSync(fd);
  expect(readFileSync(path)).toEqual(Buffer.concat([Buffer.from("text "), Buffer.of(0, 255, 10), Buffer.from("more")]));
});
