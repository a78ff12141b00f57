import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { execProgram } from "./exec.ts";

const cwd = tmpdir();
const sh = (script: string, options: { timeout?: number; signal?: AbortSignal } = {}) =>
  execProgram("sh", ["-c", script], { cwd, ...options });

/** Not one that has ended and waits for its parent. */
const isRunning = (pid: number): boolean => {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !readFileSync(path, "utf8").includes(") Z ");
};

test("a program that ends says what it wrote and its code, also what its children write later", async () => {
  const written = await sh("echo out; echo err >&2; (sleep 0.1; echo late) & exit 3", { timeout: 60_000 });
  expect(written).toEqual({ stdout: "out\nlate\n", stderr: "err\n", code: 3, killed: false, truncated: false });
  const missing = await execProgram("no-such-program", [], { cwd, timeout: 60_000 });
  expect(missing).toMatchObject({ stdout: "", stderr: expect.stringContaining("no-such-program"), code: 1 });
});

test("a time limit without an end ends nothing", async () => {
  expect(await sh("sleep 0.05; echo done", { timeout: Infinity })).toMatchObject({ stdout: "done\n", killed: false });
});

test("a program that a signal ends has failed", async () => {
  expect(await sh("kill -9 $$")).toMatchObject({ code: 1, killed: false });
});

test("a time limit ends the program and what it started, though that holds its output", async () => {
  const { stdout, code, killed } = await sh("sleep 600 & echo $!; wait", { timeout: 1_500 });
  expect({ stdout, code, killed }).toEqual({ stdout: expect.stringMatching(/^\d+\n$/), code: 1, killed: true });
  await expect.poll(() => isRunning(Number(stdout))).toBe(false);
});

test("an abort ends what a program has left behind", async () => {
  const abort = new AbortController();
  const work = sh("sleep 600 & echo $!", { signal: abort.signal });
  setTimeout(() => abort.abort(), 100);
  const { stdout, killed } = await work;
  expect(killed).toBe(true);
  await expect.poll(() => isRunning(Number(stdout))).toBe(false);
  expect(await sh("sleep 600", { signal: abort.signal })).toMatchObject({ killed: true });
});

test("a program that writes without end is ended", async () => {
  const { stdout, stderr, killed } = await execProgram("yes", ["x".repeat(1_000)], { cwd });
  expect(killed).toBe(true);
  expect(stdout.length).toBeLessThan(20 * 1024 * 1024);
  expect(stderr).toContain("It wrote more than 16 MB, and was ended.");
});

test("a program may write as much as it is allowed, on both outputs together", async () => {
  const script = "trap 'exit 0' TERM; printf 12345678; printf abcdefgh >&2; exec sleep 0.01";
  const maxBuffer = 16;
  const whole = await execProgram("sh", ["-c", script], { cwd, maxBuffer });
  expect(whole).toEqual({ stdout: "12345678", stderr: "abcdefgh", code: 0, killed: false, truncated: false });
  const cut = await execProgram("yes", ["0123456"], { cwd, maxBuffer });
  expect(cut).toMatchObject({ stdout: "0123456\n0123456\n", stderr: "", killed: true, truncated: true });
  expect(cut.code).not.toBe(0);
});
