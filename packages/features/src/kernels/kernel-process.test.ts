/** The pipes of a kernel, with streams instead of a program. */
import { PassThrough, Writable } from "node:stream";
import type { Program } from "@tau/tools";
import { expect, test } from "vitest";
import { connectProcess } from "./kernel-process.ts";

function open() {
  const taken: (() => void)[] = [];
  // A program that takes what it is sent only when the test says so.
  const stdin = new Writable({ write: (_chunk, _encoding, callback) => void taken.push(callback) });
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const lines: string[] = [];
  let ends = 0;
  const program: Program = {
    pid: 1,
    isSandboxed: false,
    stdin,
    stdout,
    stderr,
    exit: new Promise(() => {}),
    getExcess: () => undefined,
    end: async () => void ends++,
  };
  const process = connectProcess(program, { onMessage: ({ type }) => void lines.push(type), onOutput: () => {} });
  return { process, stdout, stderr, taken, lines, countEnds: () => ends };
}

test("a kernel that does not read its answers is not read either, until it does", async () => {
  const { process, stdout, taken, lines } = open();
  process.send("ToolResult", { value: "x".repeat(2_000_000) });
  expect(stdout.isPaused()).toBe(true);
  stdout.write('{"type":"Ready"}\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect(lines).toEqual([]);
  taken.shift()!();
  await expect.poll(() => lines).toEqual(["Ready"]);
  process.send("ToolResult", { value: "x".repeat(2_000_000) });
  expect(stdout.isPaused()).toBe(true);
});

test("a kernel that lets too much wait is ended", () => {
  const { process, countEnds } = open();
  const value = "x".repeat(50_000_000);
  for (let index = 0; index < 5; index++) process.send("ToolResult", { value });
  expect(countEnds()).toBe(0);
  process.send("ToolResult", { value });
  expect(countEnds()).toBe(1);
});

test("a program that never stops printing does not keep a cell from being answered", async () => {
  const { process, stderr } = open();
  const print = () => {
    stderr.write(Buffer.alloc(64 * 1024));
    timer = setImmediate(print);
  };
  let timer = setImmediate(print);
  await process.drain();
  clearImmediate(timer);
});
