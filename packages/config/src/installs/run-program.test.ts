import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { runProgram } from "./run-program.ts";

const sh = (script: string, signal = new AbortController().signal) =>
  runProgram({ argv: ["sh", "-c", script], cwd: tmpdir(), env: process.env, signal });

test("a program says what it wrote, or why it failed", async () => {
  expect(await sh("echo out; echo err >&2")).toEqual({ kind: "done", output: "out\n" });
  expect(await sh("echo out; echo err >&2; exit 1")).toEqual({ kind: "failed", reason: "err" });
  expect(await sh("echo out; exit 1")).toEqual({ kind: "failed", reason: "out" });
  const missing = { argv: ["no-such-program"] as const, cwd: tmpdir(), env: {}, signal: new AbortController().signal };
  await expect(runProgram(missing)).rejects.toMatchObject({ code: "unavailable" });
});

test("what a program leaves behind with its output open is not waited for", async () => {
  // As the connection that ssh keeps.
  const outcome = await sh("sleep 600 & echo $! >&2; exit 1");
  expect(outcome.kind).toBe("failed");
  process.kill(Number((outcome as { reason: string }).reason));
});

test.runIf(process.env["TAU_LONG"] === "1")("an abort ends a program that ignores to be asked", async () => {
  const abort = new AbortController();
  const work = sh("trap '' TERM; echo ready; while :; do sleep 0.1; done", abort.signal);
  setTimeout(() => abort.abort(), 50);
  await expect(work).rejects.toMatchObject({ code: "aborted" });
});
