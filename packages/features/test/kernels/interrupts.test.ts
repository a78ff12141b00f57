/** Interrupts at any moment: before a cell begins, while it runs, and while its messages are written. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { systemClock } from "@tau/ai";
import type { Program } from "@tau/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { KernelId } from "../../src/kernels/ipc.ts";
import { type CellOptions, Kernel } from "../../src/kernels/kernel.ts";
import { connectProcess, toArgv } from "../../src/kernels/kernel-process.ts";
import { javascriptRunner, nodeOptions } from "../../src/kernels/runners/javascript.ts";
import { pythonRunner } from "../../src/kernels/runners/python.ts";
import { languages } from "./kit.ts";

/** Interrupts of each cell. */
const rounds = process.env["TAU_LONG"] === undefined ? 4 : 40;

function startProgram([command = "", ...args]: readonly string[]): Program {
  const child = spawn(command, args, { stdio: "pipe" });
  const exit = once(child, "close").then(() => ({ kind: "exited" as const, code: child.exitCode ?? 1 }));
  const end = async () => void (child.kill("SIGKILL"), await exit);
  const { pid, stdin, stdout, stderr } = child;
  return { pid, isSandboxed: false, stdin, stdout, stderr, exit, getExcess: () => undefined, end };
}

function openKernel(argv: readonly string[]) {
  const kernel = new Kernel({
    id: KernelId.Python,
    clock: systemClock,
    idleMs: 1_000_000,
    start: async (events) => connectProcess(startProgram(toArgv(argv)), events),
    onRegister: () => undefined,
    getPersonWaitMs: () => 0,
    onEnd: () => {},
  });
  onTestFinished(() => kernel.end("The test is over."));
  const rest: Omit<CellOptions, "code"> = {
    timeoutMs: undefined,
    signal: undefined,
    onOutput: () => {},
    answer: async () => undefined,
  };
  return {
    kernel,
    run: (code: string, options: Partial<CellOptions> = {}) => kernel.run({ code, ...rest, ...options }),
  };
}

const programs = {
  python: {
    argv: ["python3", "-c", pythonRunner],
    keep: "kept = 42",
    cells: [
      "for i in range(30): display({'a': 'x' * 200000})",
      "'y' * 1000000",
      "[1] * 200000",
      "while True: pass",
      "import asyncio\nwhile True: await asyncio.sleep(0.001)",
      "print('x' * 100000)\n1 / 0",
    ],
  },
  javascript: {
    argv: [process.execPath, ...nodeOptions, "-e", javascriptRunner],
    keep: "var kept = 42;",
    cells: [
      "for (let i = 0; i < 30; i++) display({ a: 'x'.repeat(200000) })",
      "'y'.repeat(1000000)",
      "new Array(200000).fill(1)",
      "while (true);",
      "while (true) await new Promise((resolve) => setTimeout(resolve, 1))",
      "setTimeout(() => { while (true); }); await new Promise(() => {})",
      "console.log('x'.repeat(100000)); throw new Error('x')",
    ],
  },
};

describe.each(languages)("a kernel of %s", (language) => {
  const { argv, keep, cells } = programs[language];
  test("that is interrupted at any moment answers, and keeps its variables", { timeout: 300_000 }, async () => {
    const { kernel, run } = openKernel(argv);
    await run(keep);
    for (let round = 0; round < rounds; round++)
      for (const code of cells) {
        const abort = new AbortController();
        const running = run(code, { signal: abort.signal });
        // The first ones come before the cell has begun.
        if (round > 0) await new Promise((resolve) => setTimeout(resolve, (round * 7) % 40));
        abort.abort();
        await running;
        expect(kernel.hasEnded, `${code} after ${(round * 7) % 40} ms`).toBe(false);
        expect(await run("kept")).toMatchObject({ kind: "done", done: { status: "ok", value: 42 } });
      }
  });
});
